"""What was read from a table and how: one report, kept with the model, said once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover._arguments import parameter
from labelcover.datasets.column_kinds import AS_ID, NOT_USED
from labelcover.datasets.label_facts import LabelFacts

if TYPE_CHECKING:
    from labelcover.datasets.column_kinds import ColumnKind
    from labelcover.datasets.label_columns import LabelColumns
    from labelcover.datasets.raw_tables import RawTable

# More columns than this that are alike are told in one line.
MANY_COLUMNS = 12
DELIMITERS = {"\t": "a tab", " ": "a blank"}


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
    ``print(read_table(…).encoder.report)`` prints it; `as_dict` has it as data.
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
        cls,
        table: RawTable,
        kinds: list[ColumnKind],
        labels: LabelColumns,
        facts: LabelFacts,
        remarks: Sequence[str],
    ) -> ReadingReport:
        """Return the report about a training table; `remarks` are sentences about its columns."""
        written = table.text_format
        columns = [
            {"name": kind.name, "read as": kind.kind, "why": kind.why, "option": kind.option}
            for kind in kinds
        ]
        if labels.tags is not None:
            tags = {"name": labels.tags, "read as": "tags", "why": labels.told, "option": ""}
            columns.append(tags)
        return cls(
            # The folder is of no interest where the model goes.
            file=Path(table.path).name.encode("utf-8", "backslashreplace").decode("utf-8"),
            n_rows=table.n_rows,
            delimiter="" if written is None else written.delimiter,
            encoding="" if written is None else written.encoding,
            header=written is None or written.header,
            notes=[*table.notes, *remarks],
            columns=columns,
            labels=facts,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as data that JSON can hold."""
        return {**vars(self), "labels": self.labels.as_dict()}

    def __str__(self) -> str:
        table = [("column", "read as", ""), *self._rows()]
        widths = [max(len(row[j]) for row in table) for j in range(2)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[2]])
            for row in table
        ]
        told = [self.how(), *self.notes, *lines, *self.labels.sentences()]
        return "\n".join(line.rstrip() for line in told)

    def how(self) -> str:
        """Return how the file is written, in a line."""
        said = [f"{self.file}: {self.n_rows:,} rows"]
        if self.delimiter:
            delimiter = DELIMITERS.get(self.delimiter, repr(self.delimiter))
            said += [f"delimiter {delimiter}", f"encoding {self.encoding}"]
            said += [] if self.header else ["no line of names"]
        return ", ".join(said)

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield what columns were read as; many plain ones of a kind in one line."""
        columns = list(self.columns)
        for alike in ("number", "truth value"):
            plain = [c for c in columns if c["read as"] == alike and not c["why"]]
            if len(plain) > MANY_COLUMNS:
                columns = [column for column in columns if column not in plain]
                yield f"{plain[0]['name']} … {plain[-1]['name']}", alike, f"{len(plain)} columns"
        for column in columns:
            why = column["why"]
            if column["option"]:
                why += f"; {parameter(column['option'], [column['name']])} takes it in"
            yield column["name"], column["read as"], why

    def __repr__(self) -> str:
        used = sum(column["read as"] not in (AS_ID, NOT_USED, "tags") for column in self.columns)
        return (
            f"ReadingReport({self.file!r}: {self.n_rows} rows, {used} columns used, "
            f"{len(self.labels.counts)} labels)"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in self._rows()
        )
        head = "<tr><th>column</th><th>read as</th><th></th></tr>"
        notes = "".join(
            f"<li>{escape(note)}</li>" for note in [*self.notes, *self.labels.sentences()]
        )
        return f"<p>{escape(self.how())}</p><table>{head}{rows}</table><ul>{notes}</ul>"
