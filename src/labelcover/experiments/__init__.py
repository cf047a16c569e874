"""Comparisons: runs of methods on data sets, their statistics and the report."""
