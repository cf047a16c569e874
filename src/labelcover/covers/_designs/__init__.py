"""Covers by algebra: designs over finite fields, and covers put together from smaller ones."""
