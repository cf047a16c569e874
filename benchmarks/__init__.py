"""Measurements: ratios against a peer in the same run, printed as tables."""
