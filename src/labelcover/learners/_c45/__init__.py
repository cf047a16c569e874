"""C4.5 decision trees with the answers of WEKA's J48."""
