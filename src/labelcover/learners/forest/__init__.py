"""A forest of extremely randomised trees on all labels at once."""
