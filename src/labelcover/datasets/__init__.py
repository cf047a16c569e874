"""Data in: tables as people have them, ARFF of MULAN and MEKA, LIBSVM, and sets known by name."""

from labelcover.datasets._arff import read_arff
from labelcover.datasets._dataset import Dataset, feature_words, row_contents
from labelcover.datasets._file_limits import check_archive, check_ordinary
from labelcover.datasets._libsvm import read_libsvm
from labelcover.datasets._loading import KNOWN, KnownSet, check_kind, is_here, load, read
from labelcover.datasets._raw_tables import (
    is_table,
    local_file,
    read_raw,
    table_suffix,
    write_table,
)
from labelcover.datasets._table_files import Reading, read_csv, read_parquet, read_table
from labelcover.datasets._text_format import CsvFile, numbered_rows
from labelcover.tables import DataError, ReadingWarning

__all__ = [
    "KNOWN",
    "CsvFile",
    "DataError",
    "Dataset",
    "KnownSet",
    "Reading",
    "ReadingWarning",
    "check_archive",
    "check_kind",
    "check_ordinary",
    "feature_words",
    "is_here",
    "is_table",
    "load",
    "local_file",
    "numbered_rows",
    "read",
    "read_arff",
    "read_csv",
    "read_libsvm",
    "read_parquet",
    "read_raw",
    "read_table",
    "row_contents",
    "table_suffix",
    "write_table",
]
