"""The template of every ensemble over a cover: one member per labelset."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from labelcover._arguments import check_choice
from labelcover._label_values import HINT, as_booleans
from labelcover._tags import read_tags
from labelcover.covers import Cover
from labelcover.ensemble.chunked_training import check_chunked
from labelcover.ensemble.cover_view import AGGREGATES, CoverView
from labelcover.ensemble.label_model import LabelModel, seeds_of_view
from labelcover.ensemble.label_tables import named_labels, warn_of_left_out
from labelcover.ensemble.pooled_view import Pool, PooledView, view_of
from labelcover.ensemble.row_stream import RowStream, check_same_labels, check_same_table
from labelcover.ensemble.summed_cover import SummedCover
from labelcover.ensemble.view import TrainingRows
from labelcover.ensemble.wide_text import is_wide_text
from labelcover.learners.forest.label_forest import LabelForest
from labelcover.learners.targets import check_weights

# Section 2.3: above so many members, cross-validation uses only a tenth of them.
MANY_MEMBERS = 100
# What a fit finds out, which rows that are added to it make out of date.
FOUND = ("view_", "threshold_", "n_threshold_rows_", "decision_", "_unseen", "_unseen_rows")
FOUND_COVER = ("cover_", "cover_choices_")


class LabelEnsemble(LabelModel):
    """An ensemble of members, each of which holds a labelset.

    A subclass says which cover it uses (`_make_cover`), and has the parameters of `LabelModel`;
    ``aggregate`` if it offers it.

    Attributes
    ----------
    cover_ : Cover
        The labelsets, one per member.
    """

    # What holds where a subclass does not have the parameter.
    aggregate: Any = "mean"
    cover_: Cover

    _reads_chunks = True

    # Whether the fit is for the predictions of rows left out alone.
    _left_out_only = False

    # The rows of `partial_fit`.
    _stream: RowStream

    @available_if(attrgetter("reads_chunks"))
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of the calls before; the model is that of all rows so far.

        It is there where rows in chunks can be fitted: members are least squares or trees, and the
        threshold is ``"loo"`` (the default there) or a number. A call only takes rows in; what
        remains is done once, when a prediction or something fitted is asked for. After `fit`, which
        keeps no rows, a new model is begun.

        As long as all rows together hold no more than 2²⁵ numbers (256 MB: features, in sparse
        tables cells that are not 0, and labels), or are no more than 4,001, they are kept, and
        the model is that of `fit`. From then on memory stays bounded: cover, kernel, landmarks and,
        but for the linear kernel on single columns, the scale are settled; least squares is exact
        for all rows; everything else sees a uniform sample of as many rows as were kept. The
        portions in which rows come do not matter, beyond rounding. See ``docs/large-data.md``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            With the columns of the first call. Nominal columns must have all their values there, or
            declare them by a categorical dtype.
        y : array-like, sparse matrix or data frame of shape (n, n_labels)
            Zeros and ones, with the labels of the first call in the same order.
        classes : array-like, optional
            Not needed, as labels are 0 or 1; other values are refused.
        sample_weight : array-like of shape (n,), optional
            Rows of weight 0 are left out.

        Raises
        ------
        ValueError
            If the rows do not fit those before; the model stays what it was.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover import LabelCoverClassifier
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(200, 4))
        >>> Y = (X[:, :3] + X[:, 1:] > 0).astype(np.uint8)
        >>> model = LabelCoverClassifier(random_state=0)
        >>> for rows in np.split(np.arange(200), 4):
        ...     model = model.partial_fit(X[rows], Y[rows])
        >>> at_once = LabelCoverClassifier(random_state=0).fit(X, Y)
        >>> bool(np.array_equal(model.predict_proba(X), at_once.predict_proba(X)))
        True
        """
        if classes is not None:
            as_booleans(np.asarray(classes), "classes")
        model = copy(self)  # so that what fails leaves this one as it was
        learner = model._learner()
        rows = model._read_portion(learner, X, y, sample_weight)
        if "_stream" not in model.__dict__:
            model._stream = RowStream(model._seeds())
        model._stream.add(rows, partial(model._settled, learner))
        for name in FOUND if model._stream.summed is not None else FOUND + FOUND_COVER:
            model.__dict__.pop(name, None)
        self.__dict__ = model.__dict__
        return self

    def _read_portion(self, learner: Any, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Return the rows of a call whose weight is above 0."""
        if read_tags(y) is not None:
            raise ValueError(
                "y must be a table of zeros and ones in partial_fit, as all labels must be known "
                f"from the first call on, got tags. {HINT}"
            )
        y, names = named_labels(y)
        y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
        Y = self._label_table(y)
        if sparse.issparse(Y):
            raise ValueError(
                f"y must have fewer labels in partial_fit, got {Y.shape[1]}, so many that only "
                "candidates are looked at."
            )
        if "_stream" in self.__dict__:
            check_same_labels(self.label_names_in_, names, Y.shape[1])
            X = self._coding.read(self, X)
            names_in = getattr(self, "feature_names_in_", None)
            check_same_table(self._stream, self._coding, X, names_in)
        else:
            self._coding, X = learner.read_table(self, X)
            self._keep_labels(names, Y.shape[1], is_sparse=sparse.issparse(y))
        check_consistent_length(X, Y)
        self._check_threshold(Y.shape[1])
        self._check_parameters(Y.shape[1], weighted=sample_weight is not None)
        weights = check_weights(sample_weight, len(Y))
        weights = np.ones(len(Y)) if weights is None else weights
        rows = TrainingRows(X, Y, self._coding.n_values, weights, {})
        return rows if weights.all() else rows.rows(np.flatnonzero(weights))

    def _settled(self, learner: Any, training: TrainingRows) -> SummedCover | None:
        """Return what sums rows for members on top of the first ones; None if nothing does."""
        seeds = self._stream.seeds
        view = self._make_view(learner, training, int(seeds[0]))
        members = view.covers if isinstance(view, PooledView) else view
        reads_scores = members is not view and is_wide_text(training.X)
        if not isinstance(members, CoverView) or reads_scores:
            return None
        seed = int(seeds_of_view(view, seeds)[0])
        return SummedCover(members.learner, members.covers, training, seed)

    def _finish(self) -> None:
        """Fit what `partial_fit` has taken in."""
        model, stream = copy(self), self._stream
        # It is out of the way meanwhile, so that nothing asks for this again.
        del model._stream
        training = stream.training()
        model._check_rows(training)
        model._fit_rows(model._learner(), training, stream.seeds)
        model._stream = stream
        self.__dict__ = model.__dict__

    if not TYPE_CHECKING:  # else every name would be taken for an attribute

        def __getattr__(self, name):
            """Return what a fit finds out, after rows of `partial_fit` have been fitted."""
            is_pending = "_stream" in self.__dict__ and "view_" not in self.__dict__
            if is_pending and name in FOUND + FOUND_COVER:
                self._finish()
                return getattr(self, name)
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name == "partial_fit":  # it depends on the parameters
                try:
                    check_chunked(self._learner(), self._tuning(), self, use="partial_fit")
                except Exception as error:
                    raise AttributeError(f"{missing}: {error}") from error
            raise AttributeError(missing)

    @abstractmethod
    def _make_cover(self, Y: NDArray[np.uint8], seed: int) -> Cover:
        """Return the cover for the training labels."""

    def _make_view(self, learner, training, seed):
        if training.summed is None:  # else it is settled
            self.cover_ = self._make_cover(training.Y, seed)
        view = view_of(learner, self.cover_, aggregate=self.aggregate)
        views: list[Any] = [view.covers, view.forest] if isinstance(view, PooledView) else [view]
        for each in views:
            each.left_out_only = self._left_out_only
        if isinstance(view, CoverView):
            warn_of_left_out(self.cover_, self.label_names_in_)
        return view

    def _views_to_tune(self, learner, training, random):
        cover = self.cover_
        if len(cover) > MANY_MEMBERS and not self._search().is_mulans:
            chosen = np.sort(random.choice(len(cover), len(cover) // 10, replace=False))
            cover = cover.take(chosen)
        labels = np.flatnonzero(cover.label_counts)
        return lambda: view_of(learner, cover, aggregate=self.aggregate), labels

    @property
    def member_weights_(self) -> NDArray[np.float64] | None:
        """The weight of each member in each of its labels, ``(size, k)``; None if there are none.

        Those of a member are in the order of its row of ``cover_.labelsets``.
        """
        view = self.view_.covers if isinstance(self.view_, PooledView) else self.view_
        stacked = getattr(view, "stacked", [])
        return stacked[0].weights if stacked else None

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        check_choice("aggregate", self.aggregate, AGGREGATES)
        learner = self._learner()
        if self.aggregate != "mean" and isinstance(learner, LabelForest):
            raise ValueError(
                'aggregate must be "mean" with a LabelForest, whose trees serve all labels at '
                f"once, got {self.aggregate!r}."
            )
        if self.aggregate == "weighted" and not learner.gives_left_out:
            raise ValueError(
                'aggregate="weighted" needs members with leave-one-out predictions, which '
                f'{self._member()!r} has not. Use "mean" or "votes".'
            )

    def _learner(self) -> Any:
        member = self._member()
        if not isinstance(member, LabelForest | Pool):
            return super()._learner()
        member.check_parameters()
        return member

    def _gives_left_out(self) -> bool:
        return bool(self._learner().gives_left_out)
