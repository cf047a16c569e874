"""Why a label looks wrong: what the features of its row say, and the row's other labels.

The features speak through a model that is fitted without the rows it explains, as a model that has
seen a wrong label makes reasons for it.
"""

import warnings
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from labelcover._table_numbers import rows_of
from labelcover.audit._error_numbers import expected_labels
from labelcover.audit._suspects import Suspect, Suspects, single_labels
from labelcover.ensemble import FeatureNames, words_of_rows

# So many suspects are explained by their features too, which takes fits of a model.
MOST_EXPLAINED = 200
# No more than one row of so many is left out of a fit.
PARTS = 5
# Reasons on either side that are told, and how strong they must be (of log-odds).
MOST_REASONS, LEAST_REASON = 4, 0.05


class CellReasons(NamedTuple):
    """What speaks for and against a label in a row, the strongest first.

    As a text it is one line, with the reasons for suspicion first.

    Attributes
    ----------
    kind : {"wrong", "missing"}
    against, speaking_for : list of (str, float)
        The reasons, and what they add to the log-odds of the label.
    """

    kind: str
    against: list[tuple[str, float]]
    speaking_for: list[tuple[str, float]]

    def __str__(self) -> str:
        sides = [self.against, self.speaking_for]
        why, but = sides if self.kind == "wrong" else sides[::-1]
        told = "; ".join(f"{what} ({by:+.2f})" for what, by in why[:3])
        if not why:
            told = f"nothing strong {'for' if self.kind == 'wrong' else 'against'} the label"
        return told + "".join(f"; but {what} ({by:+.2f})" for what, by in but[:1])


def explain_suspects(
    suspects: Suspects,
    found: Sequence[Suspect],
    X: Any = None,
    *,
    feature_names: FeatureNames | None = None,
) -> dict[tuple[int, str], CellReasons]:
    """Return what speaks for and against suspicious labels, by row and label.

    Parameters
    ----------
    suspects : Suspects
    found : sequence of Suspect
        Those to explain, as `Suspects.ranked` returns them.
    X : array-like, sparse matrix or data frame, optional
        The features. Without them, and beyond the first 200 suspects, only the other labels of the
        row are reasons.
    feature_names : sequence of str, or function, optional
        As in `LabelCoverClassifier.explain`.

    Examples
    --------
    >>> from labelcover.audit import explain_suspects, suspicious_labels
    >>> from labelcover.datasets import load
    >>> data = load("debtags")
    >>> suspects = suspicious_labels(data.X[:300], data.Y[:300], label_names=data.label_names)
    >>> first = suspects.ranked(most=3)
    >>> why = explain_suspects(suspects, first, data.X[:300], feature_names=data.feature_names)
    >>> all(why[each.row, each.label].against or why[each.row, each.label].speaking_for
    ...     for each in first)
    True
    """
    explained = () if X is None else found[:MOST_EXPLAINED]
    by_features = _feature_reasons(suspects, explained, X, feature_names)
    at = {name: j for j, name in enumerate(suspects.label_names)}
    reasons = {}
    for suspect in found:
        key = suspect.row, suspect.label
        every = by_features.get(key, []) + _label_reasons(suspects, suspect.row, at[suspect.label])
        every = sorted(every, key=lambda each: -abs(each[1]))
        sides = (
            [each for each in every if sign * each[1] >= LEAST_REASON][:MOST_REASONS]
            for sign in (-1, 1)
        )
        reasons[key] = CellReasons(suspect.kind, *sides)
    return reasons


def _label_reasons(suspects: Suspects, i: int, j: int) -> list[tuple[str, float]]:
    """Return what the other labels of row `i` add to the log-odds of label `j`."""
    if suspects.links is None:
        return []
    own = slice(*suspects.links.indptr[j : j + 2].tolist())
    labels, theta = suspects.links.indices[own], suspects.links.data[own]
    if suspects.known is not None:
        labels, theta = labels[suspects.known[i, labels]], theta[suspects.known[i, labels]]
    has, expected = suspects.Y[i, labels], expected_labels(suspects.features[i, labels])
    return [
        (f"{'has' if has[k] else 'does not have'} {suspects.label_names[labels[k]]}", float(by))
        for k, by in enumerate(theta * (has - expected))
    ]


def _feature_reasons(
    suspects: Suspects,
    found: Sequence[Suspect],
    X: Any,
    feature_names: FeatureNames | None,
) -> dict[tuple[int, str], list[tuple[str, float]]]:
    """Return the reasons of the features, by models fitted without the rows."""
    n = len(suspects.Y)
    rows = np.unique([suspect.row for suspect in found])
    told: dict[tuple[int, str], list[tuple[str, float]]] = defaultdict(list)
    if n < PARTS or not len(rows):
        return told
    for part in np.array_split(rows, min(PARTS, -(-PARTS * len(rows) // n))):
        seen = np.setdiff1d(np.arange(n), part)
        if suspects.known is not None:  # rows of which nothing is known teach nothing
            seen = seen[suspects.known[seen].any(axis=1)]
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # What is not known was told of the whole table.
            model = single_labels().fit(rows_of(X, seen), suspects.labels[seen])
        of_label: dict[str, list[int]] = defaultdict(list)
        for suspect in found:
            if suspect.row in part:
                of_label[suspect.label].append(suspect.row)
        for label, own in of_label.items():
            some, words = rows_of(X, np.array(own)), words_of_rows(feature_names, own)
            how = {"feature_names": words, "label_names": suspects.label_names}
            for reason in model.explain(some, label, n_reasons=MOST_REASONS, **how):
                if reason.part == "feature":
                    told[own[reason.row], label].append((reason.what, reason.contribution))
    return told
