"""The template of every estimator: table in, view fitted, confidences, threshold, table out."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import _num_samples, check_consistent_length, validate_data

from labelcover._arguments import check_choice, check_integer, check_jobs, check_random_state
from labelcover._label_values import (
    checked_probabilities,
    drawn_by_frequency,
    is_zero_one,
    label_pair,
)
from labelcover._progress import raising_interrupts, tell, telling_of_compilation
from labelcover._table_numbers import is_numeric, is_plain
from labelcover.chunks import as_chunks
from labelcover.ensemble._chunked_training import read_chunks
from labelcover.ensemble._cover_view import leaving_out_some
from labelcover.ensemble._explanation import ExplainedModel
from labelcover.ensemble._known_labels import known_labels, known_rows, warned_of_unknown
from labelcover.ensemble._label_tables import (
    label_table,
    labelled,
    numbered_labels,
    same_labels,
    tags_of,
)
from labelcover.ensemble._member_estimator import MemberEstimator
from labelcover.ensemble._view import (
    MOST_SEED,
    Answer,
    TrainingRows,
    View,
    drawn_seed,
    metadata_of,
    sample_of,
)
from labelcover.many_labels import RankedLabels
from labelcover.tables import ColumnKinds, TableEncoder, training_table
from labelcover.thresholds import TIES, cut_inside, inside

# Folds of a cross-validation; MULAN's OneThreshold takes three of consecutive rows.
FOLDS, MULAN_FOLDS = 5, 3


class LabelModel(ExplainedModel, MemberEstimator, ABC):
    """A multi-label estimator: a view gives confidences, which are cut at a threshold.

    A subclass says which view it fits (`_make_view`) and has the parameters ``estimator``,
    ``threshold``, ``n_jobs``, ``random_state`` and ``verbose``; ``ties`` if it offers it. One whose
    threshold may be searched for is a `ThresholdParameters` too.

    Attributes
    ----------
    view_ : View
        What was fitted.
    threshold_ : float or ndarray of shape (n_labels,)
        Where confidences are cut.
    n_threshold_rows_ : int
        On the predictions of how many rows the threshold was tuned; 0 if it was given.
    label_names_in_ : ndarray of shape (n_labels,)
        The column names of Y; ``"label0"``, ``"label1"``, … if it had none.
    classes_ : ndarray of shape (n_labels, 2)
        For every label the two values of Y, 0 and 1 or another pair, without and with the label:
        scikit-learn's scorers and ``cross_val_predict`` look here.
    columns_ : ColumnKinds
        What each column of a table was read as, and why; not there if X was numbers.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    # How a threshold may be found that is not given.
    _thresholds: tuple[str, ...] = ()
    # Whether the view takes rows in chunks, and unknown labels.
    _reads_chunks = False
    _takes_unknown = False
    _has_unknown = False
    threshold_: Any
    view_: View

    # What holds where a subclass does not have the parameter.
    ties: Any = "auto"
    threshold_search: Any = "grid"
    _container = "default"

    @abstractmethod
    def _make_view(self, learner: Any, training: TrainingRows, seed: int) -> View:
        """Return what is to be fitted for the training rows."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        looked_at: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit all members and the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d), or a table
            A table (a data frame, an Arrow table, a list of dicts or of strings) may hold text,
            categories, dates, truth values, numbers with gaps and ids: columns are read for what
            they are (``columns_``), and found by name in new rows. A frame of numbers and
            categorical dtypes is taken as it is, any frame if a member is a ``Pipeline``. Or rows
            in chunks with their labels (`labelcover.chunks.open_chunks`), or with `y` a collection
            of Dask, where members are least squares or trees.
        y : array-like, sparse matrix or data frame of shape (n, n_labels), or tags
            The label table Y: zeros and ones, a column per label. Names of columns are kept as
            ``label_names_in_``. Another pair of whole numbers or strings may stand for 0 and 1,
            one for the whole table; the second in order means that a row has the label. Or the
            tags of each row: lists or sets of strings, or a column of strings in which they are
            separated (``"rain; wind"``); the labels are then the tags that occur, sorted. NaN or
            None in a dense table stands for a label that is not known: nothing is learned from
            that cell. `LabelCoverClassifier`, the methods of the paper and binary relevance take
            such tables.
        sample_weight : array-like of shape (n,) or (n, n_labels), optional
            Weights of rows, or of cells, where 0 is as good as not known, for the members and the
            threshold. Only their proportions count: they are divided by their mean. A row of weight
            0 is as good as removed; a weight of 2 is the row twice, but for what the number of rows
            decides, such as ridges, priors, folds.
        looked_at : array-like or data frame of shape (n, n_labels), or lists of names, optional
            Which labels of each row are known, where `y` does not say so: zeros and ones, or the
            names of these labels. By default all are, but for gaps in `y`.
        **fit_params
            Metadata for the ``fit`` of every member, routed as scikit-learn does.
        """
        learner = self._learner()
        params = self._route({"sample_weight": sample_weight, **fit_params})
        # A fit that fails half-way leaves no model, rather than an earlier one with new names.
        self.__dict__.pop("view_", None)
        # Of the view, of its members and of the threshold.
        seeds = check_random_state(self.random_state).randint(MOST_SEED, size=3)
        given = X, y, params.pop("sample_weight", None), looked_at
        chunks = None if is_numeric(X) and is_numeric(y) else as_chunks(X, y)
        if chunks is None:
            training = self._read_rows(learner, params, *given)
        else:
            training = read_chunks(self, learner, chunks, *given[2:], int(seeds[1]))
        m, self._has_unknown = training.Y.shape[1], training.cells is not None
        self._check_threshold(m)
        self._check_parameters(m, weighted=training.weights is not None)
        self._check_rows(training)
        try:
            told = telling_of_compilation(show=bool(self.verbose))
            with raising_interrupts(), learner.warning_once(), told:
                view = self._make_view(learner, training, int(seeds[0]))
                training = self._leaving_out(training, int(seeds[1]))
                how: dict[str, Any] = {"n_jobs": self.n_jobs, "verbose": bool(self.verbose)}
                self.view_ = view.fit(training, int(seeds[1]), **how)
                self._tune(training, int(seeds[2]))
                self._sample = None if self.view_.no_shares else sample_of(training.in_memory.X)
        except BaseException:
            self.__dict__.pop("view_", None)
            raise
        return self

    def _read_rows(self, learner: Any, params: dict[str, Any], X: Any, *given: Any) -> TrainingRows:
        """Return the rows of a table in memory to fit on; set what is known of its columns."""
        is_numbers = not self.columns and is_numeric(X)
        table = None if is_numbers else training_table(X, self.columns, learner)
        encodes = table is not None
        X = table if encodes else X
        n = _num_samples(X)
        X, y, names, weights, cells, kept = known_rows(X, *given)
        if cells is not None and not self._takes_unknown:
            raise ValueError(
                f"Y must have all labels known for {type(self).__name__}, got {(cells == 0).sum()} "
                f"of {cells.size} cells unknown, or weights of cells. LabelCoverClassifier, the "
                "methods of the paper and BinaryRelevanceClassifier take such tables."
            )
        self._kept_rows = kept
        if kept is not None:
            params = metadata_of(params, kept, n)
        y = y if is_plain(y) else validate_data(self, y=y, multi_output=True)
        if not encodes:
            self._coding, X = learner.read_table(self, X)
        check_consistent_length(X, y)
        pair = label_pair(y)
        Y = self._label_table(y, pair)
        if encodes:
            drawn = drawn_by_frequency(Y, cells)
            self._coding, X = TableEncoder.of_model(self, X, drawn, learner, self.columns)
        self._keep_labels(names, Y.shape[1], pair, is_sparse=sparse.issparse(y))
        if cells is not None:
            Y = warned_of_unknown(Y, cells, self.label_names_in_)
        blocks = getattr(self._coding, "blocks", {})  # of columns of a table; an array has none
        own = X, Y, self._coding.n_values, weights, params
        return TrainingRows(*own, blocks=blocks, cells=cells)

    def _label_table(self, y: Any, pair: NDArray) -> Any:
        """Return the labels as the view takes them, zeros and ones."""
        return label_table(y, pair)

    def _keep_labels(
        self, names: NDArray[np.object_] | None, m: int, pair: NDArray, *, is_sparse: bool
    ) -> None:
        low, high = map(repr, pair.tolist())
        told = f"labels are {low} and {high}: {high} counts as having the label"
        tell(told, show=bool(self.verbose) and not is_zero_one(pair))
        self._sparse_output = is_sparse and bool(pair[0] == 0)
        self.label_names_in_ = names if names is not None else numbered_labels(m)
        self.classes_ = np.tile(pair, (m, 1))

    def _check_threshold(self, m: int) -> None:
        """Raise a ``ValueError`` if the threshold is not one that the method takes."""
        if isinstance(self.threshold, str) and self.threshold in self._thresholds:
            return
        values = np.asarray(self.threshold)
        numbers = values.dtype.kind in "iuf" and values.shape in ((), (m,))
        if not numbers or not ((values >= 0) & (values <= 1)).all():
            accepted = ", ".join([*map(repr, self._thresholds), "a number between 0 and 1"])
            raise ValueError(
                f"threshold must be one of {accepted}, or {m} numbers, one for each label, got "
                f"{self.threshold!r}."
            )

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        check_jobs(self.n_jobs)
        check_choice("ties", self.ties, ("auto", *TIES))

    def _check_rows(self, training: TrainingRows) -> None:
        n, n_folds = training.Y.shape[0], self._n_folds
        if self._tuning() == "cv" and n < n_folds:
            raise ValueError(
                f'threshold="cv" needs at least {n_folds} rows, one for each fold, got '
                f"n_samples={n}. Give a number instead."
            )

    def _leaving_out(self, training: TrainingRows, seed: int) -> TrainingRows:
        """Return training rows of which some are left out, where that is needed."""
        if self._tuning() != "loo":
            return training
        covers = [getattr(self, "cover_", None)]
        return leaving_out_some(training, self._learner(), covers, drawn_seed(seed))

    def _tune(self, training: TrainingRows, seed: int) -> None:
        """Set ``threshold_`` and ``n_threshold_rows_``."""
        self._cut_ties = self._ties()
        self.threshold_, self.n_threshold_rows_ = self._found_threshold(training, seed)
        rows, m = training.Y.shape
        tell(f"{type(self).__name__}: {rows} rows, {m} labels", show=bool(self.verbose))

    def _found_threshold(self, training: TrainingRows, seed: int) -> tuple[Any, int]:
        """Return the threshold, and on how many rows it was tuned."""
        return self._given_threshold(), 0

    def _tuning(self) -> str | None:
        """Return how the threshold is tuned, ``"loo"`` or ``"cv"``; None if it is given."""
        if not isinstance(self.threshold, str):
            return None
        offered = self._gives_left_out()
        if self.threshold == "loo" and not offered:
            raise ValueError(
                f'threshold="loo" needs members with leave-one-out predictions, which '
                f'{self._member()!r} has not. Use "cv".'
            )
        return "loo" if self.threshold != "cv" and offered else "cv"

    def _gives_left_out(self) -> bool:
        """Return whether the view has confidences for left-out training rows."""
        return False

    @property
    def tunes_as_mulan(self) -> bool:
        """Whether everything is done as in MULAN's OneThreshold.

        Its grid, and for a cross-validation three folds of consecutive rows and all members.
        """
        return isinstance(self.threshold_search, str) and self.threshold_search == "mulan"

    @property
    def _n_folds(self) -> int:
        """How many folds a cross-validation has."""
        return MULAN_FOLDS if self.tunes_as_mulan else FOLDS

    @property
    def tunes_in_fit(self) -> bool:
        """Whether a threshold can be tuned on left-out predictions, without refits."""
        return bool(self._thresholds) and self._gives_left_out()

    def _views_to_tune(
        self, learner: Any, training: TrainingRows, random: np.random.Generator, *, whole: bool
    ) -> tuple[Callable[[], View], NDArray[np.int64]]:
        """Return what makes a view for each fold of a cross-validation, and which labels it has.

        Unless it is to be the `whole` view, it may have a part of the members.
        """
        seed = int(random.integers(MOST_SEED))
        labels = np.arange(training.Y.shape[1])
        return lambda: self._make_view(learner, training, seed), labels

    def _given_threshold(self) -> float | NDArray[np.float64]:
        given = np.asarray(self.threshold, dtype=np.float64)
        return float(given) if given.ndim == 0 else given

    @property
    def columns_(self) -> ColumnKinds:
        """What each column of the training table was read as, and why."""
        return ColumnKinds(self._coding.kinds, by_columns=True)

    def predict_proba(self, X: Any, known: Any = None) -> Any:
        """Return the confidence of every label, ``(n, n_labels)``, strictly inside (0, 1).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        known : array-like, sparse matrix or data frame of shape (n, n_labels), or tags, optional
            What is known of the labels of these rows: 0, 1, and NaN where nothing is. Columns of a
            data frame are found by their names; of a sparse matrix, what is stored is known. Tags
            are known ones, and all others are not known. Known labels come back as they are, and
            speak for and against the others. Needs a
            `LabelCoverClassifier` with ``estimator="auto"``.

        Examples
        --------
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> model = LabelCoverClassifier(random_state=0).fit(data.X[:600], data.labels[:600])
        >>> text = data.label_names.index("works-with::text")
        >>> alone = model.predict_proba(data.X[600:601])
        >>> with_it = model.predict_proba(data.X[600:601], known=[["works-with::text"]])
        >>> float(with_it[0, text]), bool((with_it != alone).all())
        (1.0, True)
        """
        return self._labelled(self._answer(X, known).dense(), X)

    def decision_function(self, X: Any) -> Any:
        """Return how far every confidence is above its threshold (or ½), ``(n, n_labels)``."""
        confidence = self._answer(X).dense()
        threshold = 0.5 if self.threshold_ is None else self.threshold_
        return self._labelled(confidence - threshold, X)

    def predict(self, X: Any) -> Any:
        """Return 0 and 1, or the values of `fit`, ``(n, n_labels)``; sparse if Y was and has 0."""
        return self._predicted(self._decided(X, self._answer(X).dense()), X)

    def predict_tags(self, X: Any) -> list[list[str]]:
        """Return the names of the labels that `predict` gives each row, in the order of labels.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover import RakelClassifier
        >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 4, axis=0)
        >>> tags = [["wind"]] * 4 + [["rain"]] * 4 + [["rain", "wind"]] * 4
        >>> model = RakelClassifier(k=2, random_state=0).fit(X, tags)
        >>> model.predict_tags([[1.0, 1.0], [0.0, 1.0]])
        [['rain', 'wind'], ['wind']]
        """
        return tags_of(self.predict(X), self.label_names_in_, self.classes_[0])

    def predict_top(self, X: Any, n_top: int, known: Any = None) -> RankedLabels:
        """Return the likeliest labels of each row with their confidences, the likeliest first.

        Of equal confidences, the label that comes first is ranked higher. Where there are very
        many labels, this is what fits into memory.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        n_top : int
            How many labels of each row.
        known : array-like, sparse matrix or data frame of shape (n, n_labels), or tags, optional
            As in `predict_proba`: known ones come first, with confidence 1.

        Returns
        -------
        RankedLabels
            ``labels`` (numbers; ``label_names_in_[labels]`` are the names) and ``confidence``,
            each ``(n, n_top)``.

        Examples
        --------
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> model = LabelCoverClassifier(random_state=0).fit(data.X[:300], data.Y[:300])
        >>> top = model.predict_top(data.X[300:305], 3)
        >>> top.labels.shape, bool((top.confidence[:, 0] >= top.confidence[:, 1]).all())
        ((5, 3), True)
        """
        self._check_fitted()
        n_top = check_integer("n_top", n_top, low=1, high=len(self.label_names_in_))
        return self._answer(X, known).top(n_top)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose labels are all predicted right; `y` as in `fit`."""
        rest = self.label_names_in_, self.classes_[0], sample_weight
        return same_labels(y, self.predict(X), *rest)

    def _answer(self, X: Any, known: Any = None) -> Answer:
        self._check_fitted()
        read = self._coding.read(self, X)
        return self.view_.answer(read, self._read_known(known, read.shape[0]), self._checked)

    def _read_known(self, known: Any, n: int) -> NDArray[np.int8] | None:
        """Return what is known of the labels of `n` rows, as `known_labels` does."""
        told = known_labels(known, self.label_names_in_, self.classes_[0], n)
        if told is not None and not self.view_.takes_known:
            raise ValueError(
                "known must be None unless the links between labels are fitted, as by "
                'LabelCoverClassifier with estimator="auto": '
                f"{type(self.view_).__name__} has none."
            )
        return told

    def _checked(self, confidence: NDArray[np.float64]) -> NDArray[np.float64]:
        return inside(checked_probabilities(confidence, self.label_names_in_, self._member()))

    def _decided(self, read: Any, confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return what is predicted for rows as the view reads them."""
        return cut_inside(confidence, self.threshold_, self._cut_ties)

    def _ties(self) -> str:
        """Return what a confidence of exactly the threshold means, "positive" or "negative"."""
        if self.ties != "auto":
            return self.ties
        return "positive" if self._tuning() is not None and self.tunes_as_mulan else "negative"

    def _predicted(self, chosen: Any, X: Any) -> Any:
        """Return what is chosen, a table or a sparse one of ones, as `predict` gives it."""
        if sparse.issparse(chosen):
            low, high = self.classes_[0]
            if low == 0:
                return sparse.csr_matrix(chosen.astype(self.classes_.dtype) * high)
            chosen = chosen.toarray()
        table = self.classes_[0][chosen.astype(np.intp)]
        return sparse.csr_matrix(table) if self._sparse_output else self._labelled(table, X)

    def _labelled(self, table: NDArray, X: Any) -> Any:
        return labelled(table, self._container, self.label_names_in_, X)
