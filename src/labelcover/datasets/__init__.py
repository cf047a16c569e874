"""Data in: tables as people have them, ARFF of MULAN and MEKA, LIBSVM, and sets known by name."""

from labelcover.datasets.arff import read_arff
from labelcover.datasets.dataset import DataError, Dataset, feature_words, row_contents
from labelcover.datasets.libsvm import read_libsvm
from labelcover.datasets.loading import KNOWN, KnownSet, is_here, load, read
from labelcover.datasets.raw_tables import is_table
from labelcover.datasets.tables import read_csv, read_parquet, read_table

__all__ = [
    "KNOWN",
    "DataError",
    "Dataset",
    "KnownSet",
    "feature_words",
    "is_here",
    "is_table",
    "load",
    "read",
    "read_arff",
    "read_csv",
    "read_libsvm",
    "read_parquet",
    "read_table",
    "row_contents",
]
