"""Multi-label classification with label covers."""

__version__ = "0.1.0"
