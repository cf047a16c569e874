"""A table as people have it, as one matrix of numbers: what was decided about each column."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import parameter
from labelcover._label_values import drawn_by_frequency, split_unknown
from labelcover.tables._arrow import pc
from labelcover.tables._cell_values import (
    UNNAMED,
    DataError,
    Features,
    MissingColumn,
    ReadingWarning,
    as_strings,
    shown,
)
from labelcover.tables._column_encoders import (
    CategoryColumn,
    DateColumn,
    NumberColumn,
)
from labelcover.tables._column_fitting import (
    AS_STRINGS,
    bad_cells,
    cells_of,
    fitted_column,
    new_cells,
    strange,
    two_readings,
)
from labelcover.tables._column_kinds import AS_ID, ColumnKind, check_plain, column_kinds
from labelcover.tables._feature_words import FeatureWords
from labelcover.tables._table import Table, as_table, keep_names
from labelcover.tables._text_columns import TextColumn

#: What the columns are called together that are no text.
NO_TEXT = "numbers and categories"


@dataclass(frozen=True)
class TableEncoder:
    """How a table becomes features; fitted on the training rows.

    Attributes
    ----------
    kinds : list of ColumnKind
        What was decided about each column.
    encoders : list
        One for each column that is used, in their order.
    id : str or None
        The column that names the rows.
    remarks : list of str
        Sentences about what was read in an unusual way.
    shift, factor : ndarray or None
        What brings features that are numbers to the scale of text, where there is text.
    nominal : bool
        Whether a category is one feature, the number of its value, as C4.5 and SMO take it; never
        beside text.
    """

    kinds: list[ColumnKind]
    encoders: list[Any]
    id: str | None
    remarks: list[str]
    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None
    nominal: bool = False

    @classmethod
    def of_model(
        cls, owner: Any, table: Table, Y: Any, learner: Any, columns: Mapping[str, str] | None
    ) -> "tuple[TableEncoder, Features]":
        """Return the encoder for the training table of an estimator, and the features."""
        keep_names(owner, table)
        found, X = table.known or cls.fitted(table, Y, {**table.choices, **(columns or {})})
        if not getattr(learner, "keeps_nominal", False) or found.has_text:
            return found, X
        found = replace(found, nominal=True)
        return found, found.encode(table)

    @classmethod
    def fitted(
        cls, table: Table, Y: Any, choices: Mapping[str, str]
    ) -> "tuple[TableEncoder, Features]":
        """Return the encoder for a training table without its labels, which are `Y`; its features.

        `choices` say what columns are, by name; the others are found from their cells.

        Raises
        ------
        DataError
            If no cell can be what was said of its column, or no column can be used.
        """
        if Y.dtype.kind == "f" and Y.shape[1]:  # some labels may not be known
            Y = drawn_by_frequency(*split_unknown(Y))
        kinds = column_kinds(table, table.names, choices, table.decimal)
        remarks = list(two_readings(kinds))
        encoders: list[Any] = []
        told: list[ColumnKind] = []
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
                + shown([f"{kind.name} ({kind.told(parameter(kind.option))})" for kind in told])
                + ".",
            )
        named = [name for name, kind in choices.items() if kind == "id"]
        made = cls(told, encoders, named[0] if named else _first_id(table, kinds), remarks)
        numbers, wide = made._parts(table, made.used_columns(table))
        if made.has_text:
            spread = numbers.std(axis=0)
            factor = 1 / (np.where(spread > 0, spread, 1.0) * np.sqrt(max(numbers.shape[1], 1)))
            made = replace(made, shift=numbers.mean(axis=0), factor=factor)
        return made, made._joined(table, numbers, wide)

    def read(self, owner: Any, X: Any) -> Features:
        """Return the features of new rows, of any kind of table."""
        table = as_table(X)
        encoder, X = table.known or (None, None)
        return X if encoder is self else self.encode(table)

    def encode(self, table: Table) -> Features:
        """Return the features of new rows; what cannot be read counts as missing, with a warning.

        Parameters
        ----------
        table : Table
            With the columns that are used, in any order.

        Raises
        ------
        DataError
            If a column is missing.
        """
        kinds = self.used_columns(table)
        for kind in kinds.values():
            if kind.kind in AS_STRINGS:
                check_plain(table, kind.name, kind.kind)
            else:
                for text in bad_cells(table, kind, strange(table, kind)):
                    warnings.warn(f"{table.path}: {text}", UserWarning, stacklevel=4)
        for made in filter(lambda own: isinstance(own, CategoryColumn), self.encoders):
            for text in new_cells(table, made):
                warnings.warn(f"{table.path}: {text}", UserWarning, stacklevel=4)
        return self._joined(table, *self._parts(table, kinds))

    def used_columns(self, table: Table) -> dict[str, ColumnKind]:
        """Return what the columns that are used are, as `table` writes their numbers."""
        used = {made.name for made in self.encoders}
        kinds = {kind.name: kind for kind in self.kinds if kind.name in used}
        for name, kind in kinds.items():
            if name not in table.names:
                raise MissingColumn(
                    table.path,
                    f"no column {name!r}, which was {kind.kind} in training, expected the columns "
                    f"of training: {shown(list(kinds))}.",
                    name=name,
                )
        if table.decimal is None:
            return kinds
        numbers = {name: kind.numbers.with_decimal(table.decimal) for name, kind in kinds.items()}
        return {name: replace(kind, numbers=numbers[name]) for name, kind in kinds.items()}

    @property
    def has_text(self) -> bool:
        """Whether a column is free text, so that features are sparse."""
        return any(isinstance(made, TextColumn) for made in self.encoders)

    @property
    def blocks(self) -> dict[str, NDArray[np.int64]]:
        """The features of each text, and of all other columns together; empty if there is one."""
        found: dict[str, list[int]] = {}
        start = 0
        for made in [*self._plain, *self._wide]:
            name = made.name if isinstance(made, TextColumn) else NO_TEXT
            stop = start + len(made.feature_names)
            found.setdefault(name, []).extend(range(start, stop))
            start = stop
        return {name: np.array(own) for name, own in found.items()} if len(found) > 1 else {}

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the words of the table."""
        plain = [name for made in self._plain for name in made.feature_names]
        return plain + [
            name
            for made in self._wide
            for name in ([made.name] if self._is_one(made) else made.feature_names)
        ]

    @property
    def categories(self) -> tuple[NDArray[Any] | None, ...]:
        """For each feature the values of its category, None if it is none."""
        found: list[Any] = [None for made in self._plain for _ in made.feature_names]
        for made in self._wide:
            if self._is_one(made):
                found.append(np.array(made.codes_mean, dtype=object))
            else:
                found += [None] * len(made.feature_names)
        return tuple(found)

    @property
    def n_values(self) -> NDArray[np.int32]:
        """Number of values of each nominal feature, 0 for a numeric one."""
        return np.array([0 if own is None else len(own) for own in self.categories], dtype=np.int32)

    def words(self, X: Any = None) -> FeatureWords | None:
        """Return what says features, of some rows, in the words of the table."""
        if self.nominal:
            return None
        return self.feature_words(None if X is None else self.texts(as_table(X)))

    def feature_words(self, texts: Mapping[str, Sequence[str]] | None = None) -> FeatureWords:
        """Return what says features, by their numbers, and values in the words of the table.

        `texts` are those of the rows that are explained, by column.
        """
        n = sum(len(made.feature_names) for made in self._plain)
        shift = np.zeros(n) if self.shift is None else self.shift
        factor = np.ones(n) if self.factor is None else self.factor
        return FeatureWords([*self._plain, *self._wide], shift, factor, texts)

    def texts(self, table: Table) -> dict[str, list[str]]:
        """Return the columns of a table that are read as free text, as they are."""
        names = [made.name for made in self.encoders if isinstance(made, TextColumn)]
        return {name: strings_of(table, name) for name in names}

    @property
    def _plain(self) -> list[Any]:
        return [made for made in self.encoders if isinstance(made, NumberColumn | DateColumn)]

    @property
    def _wide(self) -> list[Any]:
        return [made for made in self.encoders if not isinstance(made, NumberColumn | DateColumn)]

    def _is_one(self, made: Any) -> bool:
        return self.nominal and isinstance(made, CategoryColumn)

    def _parts(
        self, table: Table, kinds: Mapping[str, ColumnKind]
    ) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the numbers of a table, and a sparse table for each other column.

        Cells are read column by column, so that a large table is not held twice.
        """
        width = sum(len(made.feature_names) for made in self._plain)
        columns = (
            column
            for made in self._plain
            for column in made.encode(cells_of(table, kinds[made.name]))
        )
        numbers = np.empty((table.n_rows, width))
        for j, column in enumerate(columns):
            numbers[:, j] = column
        wide = []
        for made in self._wide:
            cells = cells_of(table, kinds[made.name])
            one = self._is_one(made)
            wide.append(made.codes(cells)[:, None] * 1.0 if one else made.encode(cells))
        return numbers, wide

    def _joined(self, table: Table, numbers: NDArray[np.float64], wide: list[Any]) -> Features:
        """Return all features side by side: sparse where there is text."""
        if not wide:
            return numbers
        if not self.has_text:
            total = numbers.shape[1] + sum(made.shape[1] for made in wide)
            size = f"a table of {table.n_rows} rows and {total} features"
            table.check_bytes(8 * table.n_rows * total, size)
            dense = [made.toarray() if sparse.issparse(made) else made for made in wide]
            return np.hstack([numbers, *dense])
        assert self.shift is not None
        assert self.factor is not None
        scaled = sparse.csr_array((numbers - self.shift) * self.factor)
        return sparse.hstack([scaled, *wide], format="csr")


def _first_id(table: Table, kinds: Sequence[ColumnKind]) -> str | None:
    """Return the first id that names the rows: filled and different in all of them.

    One that has a name itself comes first, if there is one.
    """
    ids = {kind.name: table.columns.column(kind.name) for kind in kinds if kind.kind == AS_ID}
    counts = {name: pc.count_distinct(own, mode="only_valid").as_py() for name, own in ids.items()}
    found = [name for name, count in counts.items() if count == table.n_rows]
    return next((name for name in found if name != UNNAMED), found[0] if found else None)


def strings_of(table: Table, name: str) -> list[str]:
    """Return the cells of a column as strings, empty where they are missing."""
    return [cell or "" for cell in as_strings(table.columns.column(name))]
