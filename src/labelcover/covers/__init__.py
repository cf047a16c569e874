"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from labelcover.covers.cover import Cover

__all__ = ["Cover"]
