"""From the columns of a table to features, and back to words: kinds of columns, encoders."""

from labelcover.tables._cell_values import (
    MISSING,
    UNNAMED,
    AnyPath,
    Cells,
    DataError,
    Features,
    ReadingWarning,
    is_missing,
    pa,
    pc,
    shown,
    without_markers,
)
from labelcover.tables._column_kinds import AS_ID, NOT_USED, ColumnKind, ColumnKinds
from labelcover.tables._table import Table, as_table, keep_names, plain_columns, training_table
from labelcover.tables._table_encoder import AS_STRINGS, NO_TEXT, TableEncoder

__all__ = [
    "AS_ID",
    "AS_STRINGS",
    "MISSING",
    "NOT_USED",
    "NO_TEXT",
    "UNNAMED",
    "AnyPath",
    "Cells",
    "ColumnKind",
    "ColumnKinds",
    "DataError",
    "Features",
    "ReadingWarning",
    "Table",
    "TableEncoder",
    "as_table",
    "is_missing",
    "keep_names",
    "pa",
    "pc",
    "plain_columns",
    "shown",
    "training_table",
    "without_markers",
]
