"""Rows that do not fit in memory: read in chunks, summed here or on a Dask cluster."""

from labelcover.chunks._dask import (
    Parcel,
    as_chunks,
    cluster,
    connect,
    is_on_cluster,
    on_dask,
    sent_once,
)
from labelcover.chunks._row_chunks import Chunk, ChunkError, RowChunks
from labelcover.chunks._sources import open_chunks

__all__ = [
    "Chunk",
    "ChunkError",
    "Parcel",
    "RowChunks",
    "as_chunks",
    "cluster",
    "connect",
    "is_on_cluster",
    "on_dask",
    "open_chunks",
    "sent_once",
]
