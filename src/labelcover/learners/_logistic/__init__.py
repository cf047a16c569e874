"""Logistic regression on sparse tables, all problems together."""
