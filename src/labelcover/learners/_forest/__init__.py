"""Forests on all labels at once: trees that split by features, and, for many labels, by means."""
