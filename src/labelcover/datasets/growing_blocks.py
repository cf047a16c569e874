"""Arrow's readers with blocks as large as the longest row needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_SIZES = (1 << 20, 1 << 24, 1 << 28, (1 << 31) - 1)
# What Arrow says of a row, or of names, that are longer than a block.
TOO_LONG = ("straddling", "larger than block size")


def in_growing_blocks(read: Callable[[int], pa.Table]) -> pa.Table:
    """Return what `read` gives with the first size of blocks in which every row fits."""
    import pyarrow as pa

    for size in BLOCK_SIZES[:-1]:
        try:
            return read(size)
        except pa.ArrowInvalid as error:
            if not any(said in str(error) for said in TOO_LONG):
                raise
    return read(BLOCK_SIZES[-1])


def reason(error: Exception) -> str:
    """Return the first line of what Arrow says of a file."""
    return str(error).split("\n")[0].rstrip(".")
