"""A table as people have it, as one matrix of numbers: what was decided about each column."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import parameter
from labelcover.datasets._cell_values import as_strings, shown
from labelcover.datasets._column_encoders import DateColumn, NumberColumn
from labelcover.datasets._column_fitting import (
    AS_STRINGS,
    bad_cells,
    cells_of,
    fitted_column,
    strange,
    two_readings,
)
from labelcover.datasets._column_kinds import AS_ID, ColumnKind, check_plain, column_kinds
from labelcover.datasets._csv_columns import UNNAMED
from labelcover.datasets._dataset import DataError, Dataset, Features, MissingColumn, ReadingWarning
from labelcover.datasets._feature_words import FeatureWords
from labelcover.datasets._file_limits import check_bytes
from labelcover.datasets._label_columns import LabelColumns
from labelcover.datasets._raw_tables import RawTable, is_csv, read_raw
from labelcover.datasets._reading_report import ReadingReport
from labelcover.datasets._text_columns import TextColumn

if TYPE_CHECKING:
    from labelcover.datasets._tables import ColumnChoices


@dataclass(frozen=True)
class TableEncoder:
    """How a table becomes features and labels; fitted on the training rows.

    Attributes
    ----------
    kinds : list of ColumnKind
        What was decided about each column that holds no label.
    encoders : list
        One for each column that is used, in their order.
    labels : LabelColumns
        Where the labels are.
    id : str or None
        The column that names the rows.
    report : ReadingReport
        What was read from the training table, and how.
    shift, factor : ndarray or None
        What brings features that are numbers to the scale of text, where there is text.
    """

    kinds: list[ColumnKind]
    encoders: list[Any]
    labels: LabelColumns
    id: str | None
    report: ReadingReport
    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None

    @classmethod
    def fitted(
        cls, table: RawTable, labels: LabelColumns, choices: ColumnChoices
    ) -> tuple[TableEncoder, Dataset]:
        """Return the encoder for a training table, and the table as a data set.

        Raises
        ------
        DataError
            If a column that is named is not there, or no column can be used.
        """
        choices.check(table.path, table.names)
        features = [name for name in table.names if name not in labels.columns]
        kinds = column_kinds(table, features, choices, table.decimal)
        remarks = list(two_readings(kinds))
        Y = labels.read(table, warn=False)
        encoders, told = [], []
        for kind in kinds:
            made, tell, said = fitted_column(table, kind, Y)
            encoders += [] if made is None else [made]
            told.append(tell)
            remarks += said
        for remark in remarks:
            warnings.warn(f"{table.path}: {remark}", ReadingWarning, stacklevel=2)
        if not encoders:
            raise DataError(
                table.path,
                "no column can be used as a feature, expected at least one: "
                + shown([f"{kind.name} ({_unused(kind)})" for kind in told])
                + ".",
            )
        facts = labels.facts(Y)
        report = ReadingReport.of(table, told, labels, facts, remarks)
        encoder = cls(told, encoders, labels, choices.id or _first_id(table, kinds), report)
        X, shift, factor = encoder._table(table, told)
        encoder = replace(encoder, shift=shift, factor=factor)
        return encoder, encoder._dataset(table, X, Y)

    def read(self, path: str | os.PathLike[str], *, with_labels: bool, **written: Any) -> Dataset:
        """Return the rows of a file, encoded as in training.

        Parameters
        ----------
        path : path-like
            A file with the columns that are used, in any order.
        with_labels : bool
            Whether the labels must be there too.
        **written : optional
            What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

        Raises
        ------
        DataError
            If a column is missing.
        """
        strings = [kind.name for kind in self.kinds if _needs_strings(kind, written.get("decimal"))]
        if is_csv(path):  # 11.2020 alone looks like a number
            strings += [kind.name for kind in self.kinds if kind.kind == "date"]
        strings += [] if self.labels.tags is None else [self.labels.tags]
        strings += [] if self.id is None else [self.id]
        table = read_raw(path, as_text=strings, **written)
        with table.hinting():
            table = self.labels.without_skipped(table) if with_labels else table
            return self._read(table, with_labels)

    def _read(self, table: RawTable, with_labels: bool) -> Dataset:
        used = {encoder.name for encoder in self.encoders}
        kinds = {
            kind.name: _with_decimal(kind, table.decimal)
            for kind in self.kinds
            if kind.name in used
        }
        for kind in kinds.values():
            if kind.name not in table.names:
                raise MissingColumn(
                    table.path,
                    f"no column {kind.name!r}, expected the columns of training: "
                    f"{shown(list(kinds))}.",
                    name=kind.name,
                )
        for kind in kinds.values():
            if kind.kind in AS_STRINGS:
                check_plain(table, kind.name, kind.kind)
            else:
                for text in bad_cells(table, kind, strange(table, kind)):
                    warnings.warn(f"{table.path}: {text}", UserWarning, stacklevel=2)
        if self.id in table.names:
            check_plain(table, self.id, "id")
        nothing = np.zeros((table.n_rows, 0), dtype=np.uint8)
        Y = self.labels.read(table, warn=True) if with_labels else nothing
        X, *_ = self._table(table, kinds.values(), self.shift, self.factor)
        return self._dataset(table, X, Y)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the words of the table."""
        plain = [name for made in self._plain for name in made.feature_names]
        return plain + [name for made in self._wide for name in made.feature_names]

    def feature_words(self, texts: Mapping[str, Sequence[str]] | None = None) -> FeatureWords:
        """Return what says features, by their numbers, and values in the words of the table.

        `texts` are those of the rows that are explained, by column.
        """
        n = sum(len(made.feature_names) for made in self._plain)
        shift = np.zeros(n) if self.shift is None else self.shift
        factor = np.ones(n) if self.factor is None else self.factor
        return FeatureWords([*self._plain, *self._wide], shift, factor, texts)

    @property
    def _plain(self) -> list[Any]:
        return [made for made in self.encoders if isinstance(made, NumberColumn | DateColumn)]

    @property
    def _wide(self) -> list[Any]:
        return [made for made in self.encoders if not isinstance(made, NumberColumn | DateColumn)]

    def _table(
        self, table: RawTable, kinds: Iterable[ColumnKind], shift: Any = None, factor: Any = None
    ) -> tuple[Features, Any, Any]:
        """Return the features of a table, and how numbers were scaled.

        Cells are read column by column, so that a large table is not held twice.
        """
        of = {kind.name: kind for kind in kinds}
        width = sum(len(made.feature_names) for made in self._plain)
        columns = (
            column for made in self._plain for column in made.encode(cells_of(table, of[made.name]))
        )
        numbers = np.empty((table.n_rows, width))
        for j, column in enumerate(columns):
            numbers[:, j] = column
        if not self._wide:
            return numbers, None, None
        tables = [made.encode(cells_of(table, of[made.name])) for made in self._wide]
        if not any(isinstance(made, TextColumn) for made in self._wide):
            total = width + sum(made.shape[1] for made in tables)
            size = f"a table of {table.n_rows} rows and {total} features"
            check_bytes(table.path, 8 * table.n_rows * total, size)
            return np.hstack([numbers, *(made.toarray() for made in tables)]), None, None
        if shift is None:
            shift, spread = numbers.mean(axis=0), numbers.std(axis=0)
            factor = 1 / (np.where(spread > 0, spread, 1.0) * np.sqrt(max(width, 1)))
        scaled = sparse.csr_array((numbers - shift) * factor)
        return sparse.hstack([scaled, *tables], format="csr"), shift, factor

    def _dataset(self, table: RawTable, X: Features, Y: NDArray[np.uint8]) -> Dataset:
        def plain(name: str) -> list[str]:
            return [cell or "" for cell in as_strings(table.columns.column(name))]

        ids = plain(self.id) if self.id in table.names else None
        if ids is None and table.rows is not None:  # some rows are left out
            ids = [str(row + 1) for row in table.rows]
        texts = [made.name for made in self._wide if isinstance(made, TextColumn)]
        names = self.feature_names
        return Dataset(
            name=table.name,
            X=X,
            Y=Y,
            feature_names=names,
            label_names=list(self.labels.names) if Y.shape[1] else [],
            categorical=np.zeros(len(names), dtype=bool),
            ids=ids,
            texts={name: plain(name) for name in texts},
            encoder=self,
            n_other_tags=self.labels.count_others(table) if Y.shape[1] else 0,
        )


def _unused(kind: ColumnKind) -> str:
    return f"{kind.why}; {parameter(kind.option)} takes it in" if kind.option else kind.why


def _first_id(table: RawTable, kinds: Sequence[ColumnKind]) -> str | None:
    """Return the first id that names the rows: filled and different in all of them.

    One that has a name itself comes first, if there is one.
    """
    found = [kind.name for kind in kinds if kind.kind == AS_ID and _is_unique(table, kind.name)]
    return next((name for name in found if name != UNNAMED), found[0] if found else None)


def _is_unique(table: RawTable, name: str) -> bool:
    import pyarrow.compute as pc

    return pc.count_distinct(table.columns.column(name), mode="only_valid").as_py() == table.n_rows


def _needs_strings(kind: ColumnKind, decimal: str | None) -> bool:
    """Return whether the cells of a further file must come as they are written.

    Arrow reads numbers with a decimal point and no more; what it makes of other cells would depend
    on the file.
    """
    if kind.kind == "number":
        return decimal is not None or not kind.numbers.is_plain
    return kind.kind in AS_STRINGS


def _with_decimal(kind: ColumnKind, decimal: str | None) -> ColumnKind:
    return kind if decimal is None else replace(kind, numbers=kind.numbers.with_decimal(decimal))
