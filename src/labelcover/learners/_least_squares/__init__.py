"""Regularised least squares on classes, in closed form."""
