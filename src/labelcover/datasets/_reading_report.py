"""What was read from a table and how, also of its labels: one report, kept with the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import parameter
from labelcover.tables import AS_ID, NOT_USED, ColumnKind, ColumnKinds, shown

if TYPE_CHECKING:
    from labelcover.datasets._label_columns import LabelColumns
    from labelcover.datasets._raw_tables import RawTable
    from labelcover.tables import TableEncoder

DELIMITERS = {"\t": "a tab", " ": "a blank"}
COMMONEST = 8  # labels that are printed with their counts
FEW_ROWS = 3  # labels of fewer rows are named: little can be learned of them


@dataclass(frozen=True, repr=False)
class ReadingReport:
    """What was read from a table, and how.

    Attributes
    ----------
    file : str
        The name of the file.
    n_rows : int
        Rows that were read.
    delimiter, encoding : str
        How a CSV file is written; empty for others.
    header : bool
        Whether the first line names the columns.
    notes : list of str
        What was read in an unusual way.
    columns : list of dict
        Of each column its ``name``, what it was ``read as``, ``why``, and for one that is not used
        the ``option`` that takes it in.
    labels : LabelFacts
        What there is to say of the labels.

    Examples
    --------
    ``print(read_table(…).report)`` prints it; `as_dict` has it as data.
    """

    file: str
    n_rows: int
    delimiter: str
    encoding: str
    header: bool
    notes: list[str]
    columns: list[dict[str, str]]
    labels: LabelFacts

    @classmethod
    def of(
        cls, table: RawTable, encoder: TableEncoder, labels: LabelColumns, Y: NDArray[Any]
    ) -> ReadingReport:
        """Return the report about a training table, `Y` its labels."""
        written = table.source
        columns = [
            {"name": kind.name, "read as": kind.kind, "why": kind.why, "option": kind.option}
            for kind in encoder.kinds
        ]
        if labels.tags is not None:
            tags = {"name": labels.tags, "read as": "tags", "why": labels.told, "option": ""}
            columns.append(tags)
        return cls(
            # The folder is of no interest where the model goes.
            file=Path(table.path).name.encode("utf-8", "backslashreplace").decode("utf-8"),
            n_rows=len(table),
            delimiter="" if written is None else written.delimiter,
            encoding="" if written is None else written.encoding,
            header=written is None or written.header,
            notes=[*table.notes, *encoder.remarks],
            columns=columns,
            labels=LabelFacts.of(Y, labels),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as data that JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        told = [self.how(), *self.notes, repr(self._kinds()), *self.labels.sentences()]
        return "\n".join(line.rstrip() for line in told)

    def _kinds(self) -> ColumnKinds:
        return ColumnKinds(
            ColumnKind(column["name"], column["read as"], column["why"], option=column["option"])
            for column in self.columns
        )

    def how(self) -> str:
        """Return how the file is written, in a line."""
        said = [f"{self.file}: {self.n_rows:,} rows"]
        if self.delimiter:
            delimiter = DELIMITERS.get(self.delimiter, repr(self.delimiter))
            said += [f"delimiter {delimiter}", f"encoding {self.encoding}"]
            said += [] if self.header else ["no line of names"]
        return ", ".join(said)

    def __repr__(self) -> str:
        used = sum(column["read as"] not in (AS_ID, NOT_USED, "tags") for column in self.columns)
        return (
            f"ReadingReport({self.file!r}: {self.n_rows} rows, {used} columns used, "
            f"{len(self.labels.counts)} labels)"
        )

    def _repr_html_(self) -> str:
        told = [*self.notes, *self.labels.sentences()]
        notes = "".join(f"<li>{escape(note)}</li>" for note in told)
        return f"<p>{escape(self.how())}</p>{self._kinds()._repr_html_()}<ul>{notes}</ul>"


@dataclass(frozen=True)
class LabelFacts:
    """How often labels occur, and which of them look like mistakes.

    Attributes
    ----------
    n_rows : int
        Rows that are learned from, among them those `without` a label.
    counts : dict of str to int
        In how many rows each label is, the commonest first.
    without : int
        Rows without a label, all of them known.
    n_empty : int
        Rows of the table whose cell of tags is empty.
    empty : str
        How such a cell was taken: ``"none"``, no tags, ``"skip"``: the row is left out, or
        ``"unknown"``: its tags are not known.
    left_out : list of str
        Tags of one row, of which nothing can be learned.
    rare : list of str
        Labels of fewer than three rows that are kept.
    everywhere : list of str
        Labels of all rows in which they are known.
    alike : list of list of str
        Labels that differ only in case or blanks.
    no_value : list of str
        What looks like a mark for a missing value, and is no tag.
    together : list of list of str
        Labels that never occur without each other.
    unknown : dict of str to int
        In how many rows labels are not known, those of the most rows first.
    """

    n_rows: int
    counts: dict[str, int]
    without: int
    n_empty: int
    empty: str
    left_out: list[str]
    rare: list[str]
    everywhere: list[str]
    alike: list[list[str]]
    no_value: list[str]
    together: list[list[str]]
    unknown: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, Y: NDArray[Any], labels: LabelColumns) -> LabelFacts:
        """Return the facts of a table of labels and of tags that are no columns of it."""
        names, unknown = labels.names, np.isnan(Y)
        n_unknown, Y = unknown.sum(axis=0), (Y == 1)
        counts = Y.sum(axis=0, dtype=np.int64)
        everywhere = (counts == len(Y) - n_unknown) & (counts > 0)
        some = np.flatnonzero((counts >= FEW_ROWS) & (counts < len(Y))).tolist()
        tags = [*names, *labels.left_out]
        return cls(
            n_rows=len(Y),
            counts=_most_first(names, counts, least=0),
            without=int(np.count_nonzero(~Y.any(axis=1) & ~unknown.any(axis=1))),
            n_empty=labels.n_empty,
            empty=labels.empty or "none",
            left_out=list(labels.left_out),
            rare=[name for name, n in zip(names, counts, strict=True) if n < FEW_ROWS],
            everywhere=[names[j] for j in np.flatnonzero(everywhere).tolist()],
            alike=_groups(("".join(name.split()).casefold(), name) for name in tags),
            no_value=list(labels.no_value),
            together=_groups((np.packbits(Y[:, j]).tobytes(), names[j]) for j in some),
            unknown=_most_first(names, n_unknown),
        )

    def sentences(self) -> Iterator[str]:
        """Yield what there is to say, each in a sentence."""
        counts, n = [f"{name} ({n})" for name, n in self.counts.items()], len(self.counts)
        yield f"{n:,} label{'s' * (n != 1)}: {shown(counts, COMMONEST)}"
        if n == 1:
            yield "one label only: whether a row has it is all that is learned"
        yield from self._without()
        if self.unknown and not self.n_empty:  # rows without tags are told
            share = sum(self.unknown.values()) / (self.n_rows * len(self.counts))
            told = [f"{name} ({n / self.n_rows:.0%})" for name, n in self.unknown.items()]
            yield f"{share:.0%} of the labels are not known: {shown(told, COMMONEST)}"
            never = [name for name, n in self.unknown.items() if n == self.n_rows]
            if never:
                yield f"labels that are known in no row: {_shown(never)}"
        if self.left_out:
            yield f"tags in one row only, left out: {_shown(self.left_out)}"
        if self.rare:
            yield f"labels in fewer than {FEW_ROWS} rows: {_shown(self.rare)}"
        if self.everywhere:
            rows = "rows that know them" if self.unknown else "rows"
            yield f"labels in all {rows}, so that nothing can be learned: {_shown(self.everywhere)}"
        for group in self.alike:
            yield f"labels that differ only in case or blanks: {_shown(group)}"
        if self.no_value:
            yield f"read as missing, not as tags: {_shown(self.no_value)}"
        for group in self.together:
            yield f"labels that never occur without each other: {_shown(group)}"

    def _without(self) -> Iterator[str]:
        without = self.without
        if self.n_empty and self.empty == "skip":
            yield f"{_share(self.n_empty, self.n_empty + self.n_rows)} without tags, left out"
        elif self.n_empty and self.empty == "unknown":
            yield f"{_share(self.n_empty, self.n_rows)} with an empty cell, their tags not known"
        elif self.n_empty:
            without -= self.n_empty
            yield (
                f"{_share(self.n_empty, self.n_rows)} without tags: an empty cell is taken as no "
                f"tags ({parameter('empty', 'skip')} leaves such rows out)"
            )
        if without:
            why = ", only tags that are left out" if self.left_out else ""
            yield f"{_share(without, self.n_rows)} without a label{why}"


def _most_first(names: list[str], counts: NDArray[Any], least: int = 1) -> dict[str, int]:
    order = np.argsort(-counts, kind="stable").tolist()
    return {names[j]: int(counts[j]) for j in order if counts[j] >= least}


def _share(n: int, of: int) -> str:
    return f"{n:,} of {of:,} rows ({n / of:.0%})"


def _groups(named: Iterable[tuple[str | bytes, str]]) -> list[list[str]]:
    groups: defaultdict[str | bytes, list[str]] = defaultdict(list)
    for key, name in named:
        groups[key].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _shown(names: Sequence[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > COMMONEST else ""
    return ", ".join(map(repr, names[:COMMONEST])) + more
