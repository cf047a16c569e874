"""Data in: ARFF of MULAN and MEKA, CSV, Parquet, LIBSVM, and sets known by name."""

from labelcover.datasets.arff import read_arff
from labelcover.datasets.dataset import DataError, Dataset
from labelcover.datasets.libsvm import read_libsvm
from labelcover.datasets.loading import is_here, load
from labelcover.datasets.reading import read
from labelcover.datasets.registry import KNOWN, KnownSet
from labelcover.datasets.tables import read_csv, read_parquet

__all__ = [
    "KNOWN",
    "DataError",
    "Dataset",
    "KnownSet",
    "is_here",
    "load",
    "read",
    "read_arff",
    "read_csv",
    "read_libsvm",
    "read_parquet",
]
