"""From the columns of a table to features, and back to words: kinds of columns, encoders."""

from labelcover.tables._arrow import arrow_csv, arrow_json, pa, parquet, pc
from labelcover.tables._cell_values import (
    MISSING,
    UNNAMED,
    DataError,
    Features,
    MissingColumn,
    ReadingWarning,
    as_numbers,
    as_strings,
    as_truth,
    found_numbers,
    is_missing,
    is_number,
    is_plain,
    is_text,
    shown,
    without_markers,
)
from labelcover.tables._column_fitting import AS_STRINGS
from labelcover.tables._column_kinds import AS_ID, NOT_USED, ColumnKind, ColumnKinds, check_plain
from labelcover.tables._table import (
    Table,
    as_table,
    declared_categories,
    keep_names,
    plain_columns,
    training_table,
)
from labelcover.tables._table_encoder import NO_TEXT, TableEncoder, strings_of
from labelcover.tables._text_columns import TextColumn

__all__ = [
    "AS_ID",
    "AS_STRINGS",
    "MISSING",
    "NOT_USED",
    "NO_TEXT",
    "UNNAMED",
    "ColumnKind",
    "ColumnKinds",
    "DataError",
    "Features",
    "MissingColumn",
    "ReadingWarning",
    "Table",
    "TableEncoder",
    "TextColumn",
    "arrow_csv",
    "arrow_json",
    "as_numbers",
    "as_strings",
    "as_table",
    "as_truth",
    "check_plain",
    "declared_categories",
    "found_numbers",
    "is_missing",
    "is_number",
    "is_plain",
    "is_text",
    "keep_names",
    "pa",
    "parquet",
    "pc",
    "plain_columns",
    "shown",
    "strings_of",
    "training_table",
    "without_markers",
]
