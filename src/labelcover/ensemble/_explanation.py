"""Why a row got a label: reasons in the words of the table, which add up to the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelcover._arguments import check_integer
from labelcover._imports import naming_extra

if TYPE_CHECKING:
    import pandas as pd

    from labelcover.ensemble._telling import Explained, FeatureNames

# Rows and labels that a notebook shows.
MOST_SHOWN = 20


class SimilarRow(NamedTuple):
    """A training row that is like a row.

    Attributes
    ----------
    row : int
        Its position in the training table.
    similarity : float
        Between 0 and 1: the cosine of a sparse table, else the share of trees in whose leaves
        both are, leaves of many rows counting less.
    tags : list of str
        Its labels.
    """

    row: int
    similarity: float
    tags: list[str]


class Reason(NamedTuple):
    """What adds to the score of a label in a row.

    Attributes
    ----------
    row : int
        Position of the row in the table that is explained.
    label : str
    part : str
        ``"start"``, the score before anything of the row is known; ``"feature"``; ``"label"``,
        which labels occur together; ``"rest"``, all smaller reasons together.
    what : str
        The reason in words.
    contribution : float
        Above 0 for the label, below 0 against it.
    """

    row: int
    label: str
    part: str
    what: str
    contribution: float


@dataclass(frozen=True, repr=False)
class Explanation(Sequence[Reason]):
    """The reasons for some labels of some rows.

    A sequence of `Reason`; the contributions of a row and label add up to its score. Of each there
    comes first the start, then what speaks for a label that is predicted (against one that is
    not), the strongest first, then what speaks otherwise, then all smaller reasons together.

    Attributes
    ----------
    reasons : tuple of Reason
    scores : dict of (int, str) to float
        The score of each row and label.
    scale : {"log-odds", "confidence"}
        What scores are: the log-odds of the confidence, or the confidence itself.
    n_smaller : dict of (int, str) to int
        How many reasons are told as one.
    """

    reasons: tuple[Reason, ...]
    scores: dict[tuple[int, str], float]
    scale: str
    n_smaller: dict[tuple[int, str], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.reasons)

    @overload
    def __getitem__(self, at: int) -> Reason: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Reason, ...]: ...

    def __getitem__(self, at: int | slice) -> Reason | tuple[Reason, ...]:
        return self.reasons[at]

    def __repr__(self) -> str:
        rows = len({row for row, _ in self.scores})
        pairs = f"{len(self.scores)} labels of {rows} rows"
        return f"<Explanation of {pairs}: {len(self)} reasons that add up to {self.scale}>"

    @naming_extra()
    def to_frame(self) -> pd.DataFrame:
        """Return the reasons as a pandas data frame, a line each."""
        import pandas as pd

        return pd.DataFrame(list(self.reasons), columns=list(Reason._fields))

    def in_words(self, n: int = 3) -> dict[tuple[int, str], str]:
        """Return for each row and label the `n` strongest reasons as one text.

        What speaks otherwise follows after "but", and all that is not told at the end.
        """
        return {key: _text(own, n, self.n_smaller[key]) for key, own in self._pairs().items()}

    def _pairs(self) -> dict[tuple[int, str], list[Reason]]:
        found: dict[tuple[int, str], list[Reason]] = {key: [] for key in self.scores}
        for reason in self.reasons:
            found[reason.row, reason.label].append(reason)
        return found

    def _repr_html_(self) -> str:
        """Return the reasons as bars: full ones speak for the label, hatched ones against it."""
        shown = list(self._pairs().items())[:MOST_SHOWN]
        most = max((abs(r.contribution) for _, own in shown for r in own), default=1.0) or 1.0
        tables = [_bars(key, own, self.scores[key], most) for key, own in shown]
        left = len(self.scores) - len(shown)
        more = f"<p>and {left} more</p>" if left > 0 else ""
        return f"<div>{escape(self.scale)}{''.join(tables)}{more}</div>"


def _text(reasons: list[Reason], n: int, n_smaller: int) -> str:
    """Return the strongest reasons of one row and label as one text."""
    told = [each for each in reasons if each.part not in ("start", "rest")]
    if not told:
        return "nothing that counts"
    main = np.sign(told[0].contribution)
    sides = [[each for each in told if sign * each.contribution > 0][:n] for sign in (main, -main)]
    texts = [f"{each.what} ({each.contribution:+.2f})" for each in sides[0]]
    texts += [f"but {each.what} ({each.contribution:+.2f})" for each in sides[1]]
    kept = {id(each) for side in sides for each in side}
    left = [each for each in reasons if each.part != "start" and id(each) not in kept]
    count = n_smaller + sum(each.part != "rest" for each in left)
    if count:
        rest = f"{sum(each.contribution for each in left):+.2f}"
        texts.append(smaller_ones(count) + (f" ({rest})" if rest.strip("+-0.") else ""))
    return "; ".join(texts)


def smaller_ones(count: int) -> str:
    """Return how many reasons are told as one."""
    return f"and {count:,} smaller {'one' if count == 1 else 'ones'}"


def _bars(key: tuple[int, str], reasons: list[Reason], score: float, most: float) -> str:
    """Return the reasons of one row and label as a table with bars, for a notebook."""
    lines = []
    for each in reasons:
        width = round(100 * min(1.0, abs(each.contribution) / most))
        fill = (
            "background:#1f4e79"
            if each.contribution > 0
            else "background:repeating-linear-gradient(45deg,#c55a11 0 2px,#fff 2px 5px);"
            "border:1px solid #c55a11"
        )
        bar = f'<div style="box-sizing:border-box;height:0.9em;width:{width}%;{fill}"></div>'
        lines.append(
            f'<tr><td style="text-align:left">{escape(each.what)}</td><td>'
            f'{each.contribution:+.2f}</td><td style="min-width:12em">{bar}</td></tr>'
        )
    title = f"row {key[0]}, {escape(key[1])}: {score:.2f}"
    return f'<table><caption style="text-align:left">{title}</caption>{"".join(lines)}</table>'


class ExplainedModel:
    """Explanations of a fitted model, for those whose view has shares."""

    view_: Any
    label_names_in_: Any
    _coding: Any
    _kept_rows: Any

    def explain(
        self,
        X: Any,
        label: Any = None,
        *,
        n_reasons: int = 10,
        feature_names: FeatureNames | None = None,
        label_names: Sequence[str] | None = None,
        whole_columns: bool = False,
        known: Any = None,
    ) -> Explanation:
        """Explain predictions as additive contributions of the columns of the table.

        The contributions of a row and label add up to its score: with the default estimator the
        log-odds of its confidence, with members or a `LabelForest` alone the confidence itself.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        label : str, int, list of these, or None
            The labels to explain, by name or number; None takes those that are predicted.
        n_reasons : int, default=10
            How many reasons for a predicted label (against one that is not predicted) are told,
            the strongest first, and at most as many that speak otherwise, if they are as strong;
            all others are summed up in one, ``"rest"``.
        feature_names : sequence of str, or function, optional
            By default the words of the training table, the names of the training frame, or
            ``"feature 0"``, …. A function of the number of a feature and its value returns both in
            words.
        label_names : sequence of str, optional
            By default ``label_names_in_``.
        whole_columns : bool, default=False
            Whether all words, options or values of a column of a file are one reason.
        known : array-like, sparse matrix or data frame of shape (n, n_labels), or tags, optional
            What is known of the labels of the rows, as in `LabelCoverClassifier.predict_proba`.
            Known labels are reasons, and are not explained.

        Returns
        -------
        Explanation
            A sequence of `Reason` with ``row``, ``label``, ``part``, ``what`` and
            ``contribution``; `Explanation.to_frame` makes a data frame of it.

        Raises
        ------
        ValueError
            If the confidences are made in another way, so that they are no sum.

        Examples
        --------
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> model = LabelCoverClassifier(random_state=0).fit(data.X[:300], data.Y[:300])
        >>> names = {"feature_names": data.feature_names, "label_names": data.label_names}
        >>> why = model.explain(data.X[300:301], label=3, **names)
        >>> [reason.part for reason in why][0]
        'start'
        >>> score = why.scores[0, data.label_names[3]]
        >>> bool(abs(sum(reason.contribution for reason in why) - score) < 1e-8)
        True
        """
        names = feature_names, label_names
        how = {"whole_columns": whole_columns, "known": known}
        return self._explained(X, label, n_reasons, *names, **how).explanation

    def _explained(self, X, label, n_reasons, *names, **how) -> Explained:
        """Return confidences, predictions and reasons, in one pass over the rows."""
        from labelcover.ensemble._telling import explain_model

        check_is_fitted(self, "view_")
        n_reasons = check_integer("n_reasons", n_reasons, low=1)
        return explain_model(self, X, label, n_reasons, *names, **how)

    def similar_rows(self, X: Any, n_similar: int = 3) -> list[list[SimilarRow]]:
        """Return for each row the training rows that are most like it, with their labels.

        On sparse tables these are the rows with the greatest cosine, each column counting by how
        rare it is, on others, and where text stands beside other columns, those that share the
        most leaves of the forest.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        n_similar : int, default=3
            How many of each row, at most.

        Raises
        ------
        ValueError
            If nothing of the model knows training rows: it has no forest and no neighbours.

        Examples
        --------
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> model = LabelCoverClassifier(random_state=0).fit(data.X[:300], data.Y[:300])
        >>> model.similar_rows(data.X[7:8], 1)[0][0].row
        7
        """
        check_is_fitted(self, "view_")
        n_similar = check_integer("n_similar", n_similar, low=1)
        found = self.view_.similar(self._coding.read(self, X), n_similar)
        if found is None:
            raise ValueError(
                f"similar_rows needs a forest or neighbours, which {self!r} has not, expected one "
                "with the default estimator or a LabelForest."
            )
        rows = found.rows
        if self._kept_rows is not None:  # rows of weight 0 were left out
            rows = np.where(rows < 0, -1, self._kept_rows[rows])
        every = zip(rows.tolist(), found.similarity.tolist(), found.labels, strict=True)
        return [
            [
                SimilarRow(row, by, [str(self.label_names_in_[j]) for j in own])
                for row, by, own in zip(*each, strict=True)
                if row >= 0
            ]
            for each in every
        ]
