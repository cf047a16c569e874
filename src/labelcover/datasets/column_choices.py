"""Which columns of a table are what, as the user said it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from labelcover.datasets.cell_values import shown
from labelcover.datasets.dataset import MissingColumn


@dataclass(frozen=True)
class ColumnChoices:
    """Which columns are what, as given: names of columns.

    Attributes
    ----------
    text, category, number, date : tuple of str
        Columns to be read so.
    drop : tuple of str
        Columns to leave out.
    id : str or None
        The column that names the rows: left out, and carried into predictions.
    """

    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None

    @classmethod
    def of(cls, *, id: str | None, **named: Sequence[str]) -> ColumnChoices:
        """Return the choices, each a list of names.

        Raises
        ------
        ValueError
            If a string is given for a list, or a column for two things.
        """
        seen: dict[str, str] = {} if id is None else {id: "id"}
        for what, columns in named.items():
            if isinstance(columns, str):
                raise ValueError(f"{what} must be a list of names of columns, got {columns!r}.")
            for name in columns:
                if seen.setdefault(name, what) != what:
                    raise ValueError(
                        f"{what} names column {name!r}, which is given for {seen[name]} too, "
                        "expected each column for one thing."
                    )
        return cls(id=id, **{what: tuple(columns) for what, columns in named.items()})

    def kind_of(self, name: str) -> str | None:
        """Return what a column is said to be, or None."""
        for field in fields(self):
            given = getattr(self, field.name)
            if name == given or (isinstance(given, tuple) and name in given):
                return field.name
        return None

    def check(self, path, names: Sequence[str]) -> None:
        """Raise a `DataError` if a column that is named is not there."""
        for field in fields(self):
            given = getattr(self, field.name)
            for name in given if isinstance(given, tuple) else filter(None, [given]):
                if name not in names:
                    raise MissingColumn(
                        path,
                        f"no column {name!r}, expected {field.name} to name columns of the file: "
                        f"{shown(names)}.",
                        name=name,
                    )
