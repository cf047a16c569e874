"""ARFF files of MULAN (labels in an XML file, read here too) and of MEKA (labels first or last)."""

import os
import re
import xml.sax
from collections.abc import Sequence
from pathlib import Path

import defusedxml
import defusedxml.sax
import numpy as np
from scipy import sparse

from labelcover._arguments import check_choice, parameter
from labelcover.datasets._arff_text import Attribute, read_arff_table
from labelcover.datasets._dataset import (
    Dataset,
    choose_features,
    choose_labels,
    settled_labels,
)
from labelcover.datasets._file_limits import read_bytes
from labelcover.tables import DataError

# Sparse features are kept sparse up to this share of non-zero cells.
DENSEST = 0.25


def read_arff(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | int | Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    empty: str | None = None,
) -> Dataset:
    """Return the data set in an ARFF file.

    Parameters
    ----------
    path : path-like
        The file, dense or sparse.
    labels : path-like, int, list of str, optional
        Which attributes are labels: a MULAN label file, a number of leading (negative: trailing)
        attributes as in MEKA, or names. By default the MULAN label file of the same name beside
        `path` (also ``x.xml`` for ``x-train.arff`` and ``x-test.arff``), else the option ``-C`` in
        the relation's name.
    label_prefix : str, optional
        Labels are the attributes whose names start with this.
    drop : list of str
        Attributes to leave out, such as row identifiers.
    features : list of str, optional
        Take just these attributes as features, in this order; with ``labels=[]`` the file need
        not hold labels.
    empty : {"none", "unknown"}, optional
        What ``?`` of a label means: 0, or that nobody looked (NaN in Y). By default it is an error.

    Returns
    -------
    Dataset
        Labels are in the order of the label file, or of the attributes. Nominal features are
        coded 0, 1, … in the order of their declaration, so that a cell that a sparse file leaves
        out is 0. ``-split-number`` of MEKA becomes the set's own split.

    Raises
    ------
    DataError
        With file, line and what was expected.
    """
    if empty is not None:
        check_choice(parameter("empty"), empty, ("none", "unknown"))
    table = read_arff_table(path)
    names = [attribute.name for attribute in table.attributes]
    label_names, at = _labels(path, table, labels, label_prefix)
    chosen = choose_features(path, names, at, drop, features)
    kept = [table.attributes[j] for j in chosen]
    for attribute in kept:
        if attribute.is_text:
            raise DataError(
                path,
                f"attribute {attribute.name!r} is text, expected it dropped or numeric or nominal.",
                attribute.line,
            )
    train, test = _own_split(table)
    return Dataset(
        name=Path(path).stem,
        X=_features(table.cells, chosen),
        Y=settled_labels(path, _label_bits(path, table, at), label_names, empty),
        feature_names=[attribute.name for attribute in kept],
        label_names=label_names,
        categorical=np.array([attribute.values is not None for attribute in kept], dtype=bool),
        train_rows=train,
        test_rows=test,
        description=table.relation,
        categories={a.name: a.values for a in kept if a.values is not None},
    )


def _labels(path, table, labels, prefix):
    """Names and positions of the labels, by whatever says which they are."""
    names = [attribute.name for attribute in table.attributes]
    if labels is None and prefix is None:
        labels = _label_file_beside(path) or _meka_option(table.relation, r"-C\s+(-?\d+)")
        if labels is None:
            raise DataError(
                path,
                "does not say which attributes are labels, expected a MULAN label file beside it, "
                "-C in the relation's name, or labels=….",
            )
    if isinstance(labels, str | os.PathLike):
        return _labels_of_file(path, names, labels)
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            raise DataError(
                path, f"{labels} labels, expected 1 to {len(names) - 1} of {len(names)} attributes."
            )
        at = list(range(labels) if labels > 0 else range(len(names) + labels, len(names)))
    else:
        at = choose_labels(path, names, labels, prefix)
    return [names[j] for j in at], at


def _label_file_beside(path):
    stem = Path(path).stem
    for name in (stem, re.sub(r"-(train|test)$", "", stem)):
        candidate = Path(path).with_name(f"{name}.xml")
        if candidate.exists():
            return candidate
    return None


def _labels_of_file(path, names, label_file):
    positions = {_unescaped(name): j for j, name in enumerate(names)}
    positions |= {name: j for j, name in enumerate(names)}
    found = read_label_file(label_file)
    at = []
    for name, line in found:
        j = positions.get(name, positions.get(_unescaped(name)))
        if j is None:
            raise DataError(
                label_file,
                f"label {name!r} is not in {path}, expected an attribute of that name.",
                line,
            )
        at.append(j)
    return [name for name, _ in found], at


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _meka_option(relation: str, pattern: str) -> int | None:
    found = re.search(pattern, relation)
    return int(found[1]) if found else None


def _own_split(table):
    """Training and test rows by MEKA's ``-split-number``: the first so many are for training.

    A number that does not fit is that of a larger file, of which this one is a part.
    """
    number = _meka_option(table.relation, r"-split(?:-number)?\s+(\d+)")
    n = table.cells.shape[0]
    if number is None or not 0 < number < n:
        return None, None
    return np.arange(number), np.arange(number, n)


def _features(cells, at):
    X = cells[:, at]
    if not sparse.issparse(X):
        return X
    return X.toarray() if X.nnz > DENSEST * np.prod(X.shape) else sparse.csr_array(X)


def _label_bits(path, table, at):
    """Return the label columns as zeros, ones and NaN, in whatever order 0 and 1 are declared."""
    cells = table.cells[:, at]
    cells = cells.toarray() if sparse.issparse(cells) else cells
    for column, j in enumerate(at):
        attribute = table.attributes[j]
        if attribute.values == ("1", "0"):
            cells[:, column] = 1 - cells[:, column]
        elif attribute.values is not None and not {"0", "1"}.issuperset(attribute.values):
            raise DataError(
                path,
                f"label {attribute.name!r} has the values {_listed(attribute)}, expected {{0,1}}.",
                attribute.line,
            )
        elif attribute.values == ("1",):
            cells[:, column] += 1
    wrong = ~((cells == 0) | (cells == 1) | np.isnan(cells))
    if wrong.any():
        i, column = np.argwhere(wrong)[0]
        name, value = table.attributes[at[column]].name, f"{cells[i, column]:g}"
        raise DataError(path, f"label {name!r} is {value}, expected 0 or 1.", table.lines[i])
    return cells.astype(np.float32)


def _listed(attribute: Attribute) -> str:
    values = attribute.values or ()
    return "{" + ",".join(values[:4]) + (",…}" if len(values) > 4 else "}")


class _Labels(xml.sax.ContentHandler):
    """Collects ``(name, line)`` of every ``label`` element, nested ones after their parent."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path, self.found = path, list[tuple[str, int]]()

    def setDocumentLocator(self, locator):
        self._locator = locator

    def startElement(self, tag, attributes):
        if tag.rpartition(":")[2] != "label":
            return
        line = self._locator.getLineNumber()
        if "name" not in attributes:
            raise DataError(self.path, "a label without a name, expected name=…", line)
        self.found.append((attributes["name"], line))


def read_label_file(path: str | os.PathLike[str]) -> list[tuple[str, int]]:
    """Return the labels of a MULAN label file in its order, each with its line.

    Raises
    ------
    DataError
        If the file is not XML, declares entities (which can be made to fill the memory), or does
        not list at least one label, each once.
    """
    handler = _Labels(path)
    try:
        defusedxml.sax.parseString(read_bytes(path), handler)
    except defusedxml.DefusedXmlException as error:
        raise DataError(
            path,
            f"declares an XML entity ({type(error).__name__}), expected a plain list of labels.",
        ) from None
    except xml.sax.SAXParseException as error:
        raise DataError(
            path,
            f"not XML ({error.getMessage()}), expected a MULAN label file.",
            error.getLineNumber(),
        ) from None
    if not handler.found:
        raise DataError(path, "lists no label, expected <label name=…> elements.")
    seen: dict[str, int] = {}
    for name, line in handler.found:
        if name in seen:
            raise DataError(path, f"label {name!r} is already on line {seen[name]}.", line)
        seen[name] = line
    return handler.found
