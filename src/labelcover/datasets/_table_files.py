"""Tables in files: a column per feature and label, or as they are; further files of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, parameter
from labelcover._imports import naming_extra
from labelcover.datasets._dataset import EMPTY, Dataset, choose_features
from labelcover.datasets._label_columns import LabelColumns
from labelcover.datasets._raw_tables import CSV, KINDS, RawTable, read_raw, suffix_of
from labelcover.datasets._reading_report import ReadingReport
from labelcover.tables import AS_STRINGS, AnyPath, DataError, TableEncoder, pa, shown


@naming_extra()
def read_table(
    path: AnyPath,
    *,
    tags: str | None = None,
    labels: Sequence[str] | None = None,
    label_prefix: str | Sequence[str] | None = None,
    label_range: str | None = None,
    separator: str | Sequence[str] | None = None,
    empty: str | None = None,
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    date: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool = True,
) -> Dataset:
    """Return the data set in a table as people have it: text, categories, dates, tags.

    Each column is read for what it is, which is found from its cells or given here:

    ============  ======================================================================
    numbers       a missing one is the median; a feature marks the missing ones if they
                  have other labels than the rest (χ² test)
    truth values  yes and no, true and false: 0 and 1
    categories    zeros and ones for each value, one feature for all rare or new values
    dates         year, month, weekday, hour, and age since the newest
    text          TF-IDF of words and pairs of words; of groups of characters where these
                  have the smaller leave-one-out error
    ids           almost all different, and their characters predict nothing: not used,
                  see `id`
    ============  ======================================================================

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv`` (also ``.gz``), ``.parquet``, or JSON lines: ``.jsonl``, ``.ndjson``.
    tags : str, optional
        The column that holds the tags of each row: ``rain; wind``, or lists in Parquet and JSON.
        Tags of a single row are left out, with a warning.
    labels : list of str, optional
        Instead of `tags`: the columns that are labels, of 0 and 1 (or yes and no, true and false).
    label_prefix : str or list of str, optional
        Instead of `labels`: every column whose name starts with this, or with one of these.
    label_range : str, optional
        Instead of `labels`: ``"FIRST:LAST"``, the columns from one to the other.
    separator : str or list of str, optional
        What separates tags: any of these; with an empty list a cell is one tag. By default it is
        found from all cells, an error if two readings are about as likely.
    empty : {"none", "skip", "unknown"}, optional
        What an empty cell of the labels means: none of them (0), that the row is left out, or that
        nobody looked (NaN in Y; of a row without tags, all labels). By default an empty cell of
        `tags` is a row without tags, with a warning if more than half of the rows are so, and an
        empty label is an error that tells the shares; in a column of crosses alone it is 0.
    text, category, number, date : list of str
        Columns to be read as this, whatever they look like.
    drop : list of str
        Columns to leave out.
    id : str, optional
        The column that names the rows; not a feature, but ``Dataset.ids``, and carried into
        predictions. By default the first column that looks like one and is different in all rows.
    delimiter, encoding, decimal : str, optional
        How a CSV file is written. By default this is found out.
    header : bool, default=True
        Whether the first row of a CSV file has the names of the columns; if not, they are called
        ``column 1``, ``column 2``, …

    Returns
    -------
    Dataset
        With the features in the words of the table (``subject: invoice``, ``colour = red``,
        ``opened (year)``), and ``encoder``, which has what was decided about each column and reads
        further files in the same way.

    Raises
    ------
    DataError
        With file, line or row, and what was expected.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelcover.datasets import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tickets.csv"
    >>> _ = path.write_text('''subject;hours;tags
    ... printer is on fire;1,5;hardware, urgent
    ... printer has no paper;0,5;hardware
    ... please reset my password;NA;account
    ... password of my printer;0,25;account, hardware, urgent
    ... ''')
    >>> tickets = read_table(path, tags="tags")
    >>> tickets.label_names
    ['account', 'hardware', 'urgent']
    >>> tickets.feature_names
    ['hours', 'subject: my', 'subject: password', 'subject: printer']
    >>> [(kind.name, kind.kind) for kind in tickets.encoder.kinds]
    [('subject', 'text'), ('hours', 'number')]
    """
    if tags is not None and not (labels is label_prefix is label_range is None):
        raise ValueError(
            f"{parameter('tags', tags)} is given and {parameter('labels')}, "
            f"{parameter('label_prefix')} or {parameter('label_range')} too, expected one of them."
        )
    lists = {"text": text, "category": category, "number": number, "date": date, "drop": drop}
    choices: dict[str, str] = {}
    for kind, names in (lists | ({} if id is None else {"id": [id]})).items():
        if isinstance(names, str):
            raise ValueError(f"{kind} must be a list of names of columns, got {names!r}.")
        for name in names:
            if choices.setdefault(name, kind) != kind:
                raise ValueError(
                    f"{kind} names column {name!r}, which is given for {choices[name]} too, "
                    "expected each column for one thing."
                )
    for name in [tags] if tags is not None else labels or ():
        if name in choices:
            role = "labels" if tags is None else "tags"
            raise ValueError(
                f"{choices[name]} names column {name!r}, which is given for {role} too, expected "
                "each column for one thing."
            )
    strings = {*text, *category, *({tags} if tags else ()), *({id} if id else ())}
    written = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    table = read_raw(path, as_text=strings, **written, header=None if header else False)
    with table.hinting():
        where, table = LabelColumns.found(
            table, labels, label_prefix, empty, span=label_range, tags=tags, separator=separator
        )
        for name, kind in choices.items():
            expected = f"expected {kind} to name columns of the file: {shown(table.names)}"
            table.check_there(name, expected)
        Y, n_others = where.read(table, warn=False)
        features = replace(table, columns=table.columns.drop_columns(where.columns))
        encoder, X = TableEncoder.fitted(features, Y, choices)
    report = ReadingReport.of(table, encoder, where, Y)
    known_names = encoder.feature_names, list(where.names)
    reading = Reading(table.name, *known_names, encoder=encoder, labels=where, report=report)
    known = replace(features, known=(encoder, X), choices=choices)
    return reading.dataset(known, Y, n_others)


def read_csv(
    path: AnyPath,
    labels: Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    delimiter: str | None = None,
    empty: str | None = None,
) -> Dataset:
    """Return the data set in a table of numbers: the cells themselves, NaN where missing.

    `read_table` takes other columns too, and fills missing values.

    Parameters
    ----------
    path : path-like
        The file: CSV, Parquet or another that `read_table` takes. Features are numbers, labels are
        0 or 1.
    labels : list of str, optional
        The columns that are labels.
    label_prefix : str, optional
        Instead of `labels`: every column whose name starts with this.
    drop : list of str
        Columns to leave out.
    features : list of str, optional
        Take just these columns as features, in this order; with ``labels=[]`` the file need not
        hold labels.
    delimiter : str, optional
        The separator between cells of CSV; by default it is found out.
    empty : {"none", "skip", "unknown"}, optional
        What an empty label means; see `read_table`.
    """
    table = read_raw(path, delimiter=delimiter)
    with table.hinting():
        where, table = LabelColumns.found(table, labels, label_prefix, empty)
        at = [table.names.index(name) for name in where.names]
        chosen = choose_features(table.path, table.names, at, drop, features)
    names = [table.names[j] for j in chosen]
    X = np.empty((len(table), len(names)))
    for j, name in enumerate(names):
        cells = table.cells(name)
        kind = cells.column.type
        if pa.types.is_nested(kind) or pa.types.is_temporal(kind):
            raise table.error(f"column {name!r} holds {kind}, expected numbers.")
        found = cells.found_numbers(decimal=table.decimal)
        if found.both:
            table.warn(f"column {name!r}: {found.both}.", UserWarning)
        read = cells.numbers(found.format)
        if read.bad.any():
            row = int(np.argmax(read.bad))
            value = str(cells.column[row].as_py())[:40]
            text = f"column {name!r} in {{place}} holds {value!r}, expected a number."
            raise table.error(text, row)
        X[:, j] = read.numbers
    nothing = np.zeros((len(X), 0), dtype=np.uint8)
    Y = where.read(table, warn=False)[0] if where.names else nothing
    return Dataset(table.name, X, Y, names, where.names, np.zeros(len(names), dtype=bool))


#: The same: the suffix of a file says what it is.
read_parquet = read_csv


@dataclass(frozen=True)
class Reading:
    """What a model was trained on, and how further files are read in the same way.

    Attributes
    ----------
    name : str
        The name of the training data.
    feature_names, label_names : list of str
        What goes in and what comes out.
    categories : dict of str to tuple of str
        The values of nominal features in the order of their codes.
    encoder : TableEncoder or None
        How a table becomes features, if it was one.
    labels : LabelColumns or None
        Where the labels of the table are.
    report : ReadingReport or None
        What was read from the training table, and how.
    row_ids : ndarray of str, or None
        What the training rows are called, if the table says.
    """

    name: str
    feature_names: list[str]
    label_names: list[str]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    encoder: TableEncoder | None = None
    labels: LabelColumns | None = None
    report: ReadingReport | None = None
    row_ids: NDArray[np.str_] | None = None

    @classmethod
    def of_model(cls, model: Any) -> "Reading":
        """Return what a fitted estimator was trained on: as it was read, else by its names."""
        found = getattr(model, "reading_", None)
        if found is not None:
            return found
        encoder = model._coding if isinstance(model._coding, TableEncoder) else None
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            names = [f"column {f + 1}" for f in range(model.n_features_in_)]
        return cls("", list(names), list(model.label_names_in_), encoder=encoder)

    def read(
        self,
        source: AnyPath,
        *,
        with_labels: bool,
        empty: str | None = None,
        **written: Any,
    ) -> Dataset:
        """Return the rows of a file, or of a known data set, in the form that the model takes.

        Parameters
        ----------
        source : path-like or str
            A file with a column for each that is used, in any order, or a name that `load` knows.
        with_labels : bool
            Whether the labels must be there too.
        empty : {"none", "skip", "unknown"}, optional
            What an empty label means, as in `read_table`; by default what it meant in training.
        **written : optional
            What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

        Raises
        ------
        DataError
            If a column is missing or a nominal one is declared differently than in training.
        """
        from labelcover.datasets._loading import KNOWN, load, read

        if str(source) in KNOWN and not Path(source).exists():
            dataset, names = load(str(source)), (self.feature_names, self.label_names)
            if (dataset.feature_names, dataset.label_names) != names:
                raise DataError(source, f"has other columns than {self.name!r}.")
            return dataset
        if self.encoder is not None:
            return self._read_table(source, with_labels, empty, written)
        for name, value in written.items():
            if value is not None:
                raise ValueError(
                    f"{name} is for models that were trained on a table (.csv, .parquet, .jsonl), "
                    f"got {name}={value!r} for one trained on {self.name!r}."
                )
        wanted = self.label_names if with_labels else []
        dataset = read(source, wanted, features=self.feature_names, empty=empty)
        for name, values in self.categories.items():
            if dataset.categories.get(name) != tuple(values):
                raise DataError(
                    source,
                    f"attribute {name!r} is declared differently than in training, expected "
                    f"{{{','.join(values)}}}.",
                )
        return dataset

    def known(self, dataset: Dataset) -> NDArray[np.float64]:
        """Return what the table of a data set says of the labels: 0, 1, NaN for nothing."""
        if not isinstance(dataset.table, RawTable):
            raise ValueError(f"known labels are read from tables, {dataset.name!r} is none.")
        return (self.labels or LabelColumns(list(self.label_names))).known(dataset.table)

    def _read_table(
        self, path: Any, with_labels: bool, empty: str | None, written: dict[str, Any]
    ) -> Dataset:
        assert self.encoder is not None
        labels = self.labels or LabelColumns(list(self.label_names))
        if empty is not None:
            labels = replace(labels, empty=check_choice(parameter("empty"), empty, EMPTY))
        # Arrow reads numbers with a decimal point and no more; what it makes of other cells would
        # depend on the file: 11.2020 alone looks like a number.
        is_csv = KINDS.get(suffix_of(path).lower()) == CSV
        has_sign = written.get("decimal") is not None
        strings = [
            kind.name
            for kind in self.encoder.kinds
            if kind.kind in AS_STRINGS
            or (kind.kind == "date" and is_csv)
            or (kind.kind == "number" and (has_sign or not kind.numbers.is_plain))
        ]
        strings += [name for name in (labels.tags, self.encoder.id) if name is not None]
        table = read_raw(path, as_text=strings, **written)
        with table.hinting():
            self.encoder.used_columns(table)
            table = labels.without_skipped(table) if with_labels else table
            if self.encoder.id in table.names:
                table.check_plain(self.encoder.id, "id")
            Y, others = np.zeros((len(table), 0), dtype=np.uint8), 0
            if with_labels:
                Y, others = labels.read(table, warn=True)
            X = self.encoder.encode(table)
            return self.dataset(replace(table, known=(self.encoder, X)), Y, others)

    def dataset(self, table: RawTable, Y: NDArray[Any], n_other_tags: int) -> Dataset:
        """Return the data set of an encoded table."""
        assert self.encoder is not None
        assert table.known is not None
        id = self.encoder.id
        ids = table.strings(id) if id in table.names else None
        if ids is None and table.rows is not None:  # some rows are left out
            ids = [str(row + 1) for row in table.rows]
        return Dataset(
            name=table.name,
            X=table.known[1],
            Y=Y,
            feature_names=self.feature_names,
            label_names=list(self.label_names) if Y.shape[1] else [],
            categorical=np.zeros(len(self.feature_names), dtype=bool),
            ids=ids,
            texts=self.encoder.texts(table),
            read_by=self,
            table=table,
            n_other_tags=n_other_tags,
        )
