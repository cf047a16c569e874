"""Linear support vector machines with the answers of WEKA's SMO."""
