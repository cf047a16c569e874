"""The general estimator."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from labelcover._arguments import is_auto
from labelcover._label_values import alike_rows, as_booleans, label_pair, label_rows, split_unknown
from labelcover._progress import each_warning_once, tell
from labelcover._table_numbers import rows_of
from labelcover.chunks import as_chunks
from labelcover.decisions import Cut, Decision, check_decision
from labelcover.ensemble._choose_cover import linking_cover
from labelcover.ensemble._label_ensemble import THRESHOLDS, LabelEnsemble
from labelcover.ensemble._label_tables import labelled, named_labels, numbered_labels, tags_of
from labelcover.ensemble._many_label_pool import ManyLabelPool
from labelcover.ensemble._plan import CANDIDATES, LEFT_OUT, POOL, labels_are_many
from labelcover.ensemble._pool import Pool
from labelcover.ensemble._view import LeftOutPredictions, TableAnswer, TrainingRows
from labelcover.many_labels import check_candidate_decision


@dataclass(eq=False, repr=False)
class LabelCoverClassifier(LabelEnsemble):
    """A multi-label classifier: several views of single labels, and links between the labels.

    By default least squares and a forest are pooled, weighted by their left-out predictions. On
    sparse tables the labels of the nearest training rows are one more view. On wide text (above
    4,000 rows and columns, at most a tenth of the cells not 0) logistic regressions join them,
    whose scores least squares reads. Each text has views of its own, and so have all columns that
    are none. Then labels speak for and against each other: two are linked if a labelset holds
    both. Last, a decision is taken for the measure that is asked for. With a named `estimator`
    there is one member per labelset of the cover instead.

    Parameters
    ----------
    estimator : "auto", scikit-learn classifier, LabelForest or Pool, default="auto"
        ``"auto"`` is `Pool`: several views of single labels, pooled. A classifier is what the
        members are clones of, one for each labelset of the cover: `LeastSquaresClassifier`,
        `LogisticClassifier`, any of scikit-learn. `LabelForest` is one forest for all labels.
    cover : str, Cover, callable or array-like, default="auto"
        Which labels are linked, or which each member holds: the name of a strategy of
        `labelcover.covers` (``"best"``, ``"random"``, ``"inlac"``, ``"balco"``, ``"balancor"``,
        ``"disjoint"``, …) or of one that looks at the training labels (``"dependent"`` and
        ``"communities"``, see `labelcover.dependence`), a function like those, or the labelsets
        themselves, which may differ in size. ``"auto"`` is ``"dependent"`` where the cover links
        labels, of at most 4 labelsets for each label. For members it is ``"best"``, which covers
        all r-labelsets; where that takes more than 5,000 members (at ``k=3``, above some 170
        labels) and no `size` is given, 4 balanced labelsets for each label.
    k : int or "auto", default=3
        Number of labels in a labelset. If there are fewer labels, all of them, with a warning.
        With ``k=1`` there are no links, and members are binary relevance.
        ``"auto"`` takes the affordable cover that addresses the most dependency among the
        training labels (see `labelcover.dependence.cover_choices`).
    r : int or "auto", default=2
        Order of the correlations to cover: every r labels lie together in some labelset.
    size : int, optional
        Number of labelsets σ. By default as many as the strategy needs.
    adapt : bool, default=False
        Permute the labels of the cover so that it holds as many dependent labels as possible, as
        DD-BALANCOR does; see `labelcover.dependence.adapt_cover`.
    budget : float, optional
        With ``k="auto"`` or ``r="auto"`` and a named `estimator`: the greatest cost of the
        ensemble, in binary models. By default ten for each label.
    plan : "auto" or Plan, default="auto"
        What is fitted for the table: by default decided by `plan_views` from facts of the table.
        Only where `estimator` is ``"auto"`` or a `Pool`.
    aggregate : {"auto", "mean", "votes", "winner", "weighted"}, default="auto"
        How the members of a named `estimator` are combined; see `RakelPlusPlusClassifier`.
    decide : str, int or callable, default="micro_f1"
        What `predict` is best for: ``"micro_f1"``, ``"macro_f1"``, ``"example_f1"``,
        ``"hamming_loss"`` or ``"subset_accuracy"``; a number of labels for every row; or a function
        ``f(Y, Y_pred)``, higher is better, for which one threshold is tuned. A fitted model
        decides for something else with ``predict(X, decide=…)``.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default="auto"
        A number, or one for each label, cuts confidences there, whatever `decide` says. Otherwise
        the decision is fitted on left-out predictions: leave-one-out and out-of-bag (``"loo"``),
        which the default members give without refitting, or five-fold cross-validation
        (``"cv"``); ``"auto"`` is ``"loo"`` where the members offer it.
    ties : {"auto", "positive", "negative"}, default="auto"
        What a confidence of exactly the threshold means; ``"auto"`` is ``"negative"``.
    columns : mapping of str to str, optional
        What columns of a table are: "text", "category", "number", "date", "id" or "drop".
    n_jobs : int, optional
        Number of members or trees fitted in parallel; it never changes results.
    random_state : int, RandomState or None
        Seed of the cover, the members and the folds.
    verbose : bool, default=False
        Show progress bars, and say what was chosen.

    Attributes
    ----------
    cover_ : Cover
        The labelsets: which labels are linked, or one per member.
    label_names_in_ : ndarray of shape (n_labels,)
        The names of the labels; ``"label0"``, … if Y had none.
    plan_ : Plan
        What was fitted, and why; ``print(model.plan_)`` shows it in words.
    cover_choices_ : list of CoverChoice or None
        With ``k="auto"`` or ``r="auto"``: what the cover was chosen from, and why.
    decision_ : Decision
        What `predict` does with confidences.
    threshold_ : float, ndarray of shape (n_labels,) or None
        Where confidences are cut; None where the decision is no cut.
    n_forest_rows_ : int
        On how many training rows trees were grown: all, or of chunks 2²⁵ numbers; 0 without trees.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import LabelCoverClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = LabelCoverClassifier(random_state=0).fit(X, Y)
    >>> model.cover_.k, bool((model.cover_.label_counts > 0).all())
    (3, True)
    >>> model.predict(X).shape
    (100, 6)
    >>> model.predict(X, decide=2).sum(axis=1).max()
    np.int64(2)
    """

    estimator: Any = "auto"
    _: KW_ONLY
    cover: Any = "auto"
    k: Any = 3
    r: Any = 2
    size: Any = None
    adapt: bool = False
    budget: Any = None
    plan: Any = "auto"
    aggregate: Any = "auto"
    decide: Any = "micro_f1"
    threshold: Any = "auto"
    ties: Any = "auto"

    _thresholds = THRESHOLDS

    def predict(self, X: Any, decide: Any = None, known: Any = None) -> Any:
        """Return zeros and ones, ``(n, n_labels)``; sparse if the labels were sparse in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        decide : optional
            Decide for this instead of the estimator's own `decide`; nothing is fitted anew but the
            decision.
        known : array-like, sparse matrix or data frame of shape (n, n_labels), or tags, optional
            As in `predict_proba`: it stays, and counts where a number of labels is asked for.
        """
        self._check_fitted()
        decision = self.decision_ if decide is None else self._decision(decide)
        return self._predicted(self._answer(X, known).decide(decision), X)

    def predict_tags(self, X: Any, known: Any = None) -> list[list[str]]:
        """Return the names of the labels that `predict` gives each row, in the order of labels."""
        return tags_of(self.predict(X, known=known), self.label_names_in_, self.classes_[0])

    def _decided(self, read: Any, confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.decision_.decide(confidence).astype(bool)

    @property
    def left_out_predictions_(self) -> LeftOutPredictions | None:
        """What the decision was fitted on; None if the threshold was given.

        Leave-one-out predictions are those of up to 2,048 training rows.
        """
        if self._unseen is None:
            return None
        Y, answer, weights, _ = self._unseen
        if np.ndim(weights) == 2:
            Y = np.where(weights > 0, Y, np.nan)
        return LeftOutPredictions(self._unseen_rows, Y, answer.stored())

    @property
    def n_forest_rows_(self) -> int:
        """On how many training rows trees were grown; 0 if there are none."""
        return self.view_.n_forest_rows

    def left_out_proba(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the confidences of all training rows by members fitted without them.

        Leave-one-out and out-of-bag predictions where the members give them, five-fold
        cross-validation elsewhere. The estimator itself is not fitted: as nothing else is needed,
        least squares is approximated above 1,000 rows, with 500 landmarks by default (1,000 where
        these are crowded), and compares fewer kernels; below 100 labels, ``n_trees="auto"`` is 64
        trees. `X` and `y` are as for `fit`, and the confidences ``(n, n_labels)``.

        Examples
        --------
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> model = LabelCoverClassifier(random_state=0)
        >>> model.left_out_proba(data.X[:300], data.Y[:300]).shape
        (300, 24)
        """
        if as_chunks(X, y) is not None:
            raise ValueError("X must be a table in memory: confidences are returned for all rows.")
        if self._takes_candidates(y):
            raise ValueError(
                f"left_out_proba gives a table of confidences, which {np.shape(y)[1]} labels are "
                "too many for: left_out_predictions_ of a fitted model has those of some rows."
            )
        model = clone(self).set_params(threshold="auto", plan=LEFT_OUT).fit(X, y)
        found = model.left_out_predictions_
        assert found is not None
        kept = np.arange(len(found.rows)) if model._kept_rows is None else model._kept_rows
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        confidence = np.empty((n, found.confidence.shape[1]))
        confidence[kept[found.rows]] = found.confidence
        rest = np.setdiff1d(np.arange(n), kept)  # of these no label is known: nothing was fitted
        if len(rest):
            confidence[rest] = np.asarray(model.predict_proba(rows_of(X, rest)))
        return confidence

    def complete(self, X: Any, y: Any, n_folds: int = 5) -> Any:
        """Return a label table with probabilities in place of the labels that are not known.

        Each comes from a model that has not seen the row, given the known labels of the row. The
        estimator itself is not fitted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d), or a table
        y : array-like or data frame of shape (n, n_labels)
            NaN or None where a label is not known.
        n_folds : int, default=5
            Number of models: rows are filled in by that which was fitted without their fold.

        Returns
        -------
        ndarray of shape (n, n_labels), or what `set_output` asks for
            Known labels are 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover import LabelCoverClassifier
        >>> from labelcover.datasets import load
        >>> data = load("debtags")
        >>> Y = data.Y[:300].astype(float)
        >>> Y[10, 3] = np.nan
        >>> filled = LabelCoverClassifier(random_state=0).complete(data.X[:300], Y)
        >>> bool(0 < filled[10, 3] < 1), bool((filled == Y).sum() == Y.size - 1)
        (True, True)
        """
        from labelcover.model_selection import StratifiedLabelKFold

        if self._learner().view != POOL:
            raise ValueError(
                'estimator must be "auto" or a Pool to fill in labels from the known ones of a '
                f"row, got {self.estimator!r}."
            )
        given, names = named_labels(y)
        table, known = split_unknown(given)
        found = as_booleans(table, pair=label_pair(table)).astype(np.float64)
        if known is not None:
            folds = StratifiedLabelKFold(n_folds, shuffle=True, random_state=self.random_state)
            truth = np.where(known, found, np.nan)
            with each_warning_once():
                for train, test in folds.split(truth, truth):
                    some = train[known[train].any(axis=1)]  # others teach nothing, and are told
                    train = some if len(some) else train
                    model = clone(self).fit(rows_of(X, train), rows_of(y, train))
                    own = model.predict_proba(rows_of(X, test), known=rows_of(y, test))
                    found[test] = np.where(known[test], found[test], np.asarray(own))
        names = numbered_labels(found.shape[1]) if names is None else names
        return labelled(found, self._container, names, X)

    def _label_table(self, y, pair):
        candidates = self._takes_candidates(y)
        return label_rows(y, pair=pair) if candidates else super()._label_table(y, pair)

    def _takes_candidates(self, y: Any) -> bool:
        """Return whether labels stay sparse, and only candidates are looked at."""
        if self._has_default_member():
            return labels_are_many(y)
        return self._learner().view == CANDIDATES

    def _make_view(self, learner, training, seed):
        if self._has_default_member() and sparse.issparse(training.Y):
            learner = ManyLabelPool()
        return super()._make_view(learner, training, seed)

    def _make_cover(self, Y, seed):
        links = is_auto(self.cover) and not self._has_members()
        strategy = linking_cover if links else self.cover
        return self._chosen_cover(Y, seed, strategy, adapt=self.adapt, budget=self.budget)

    def _has_default_member(self) -> bool:
        return self.estimator is None or is_auto(self.estimator)

    def _member(self):
        return Pool() if self._has_default_member() else self.estimator

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        if self.budget is not None and not self._has_members():
            raise ValueError(
                "budget must be None unless estimator names what the members over the labelsets "
                f"are, whose number it bounds, got {self.budget!r}."
            )
        check_decision(self.decide, n_labels)

    def _check_rows(self, training: TrainingRows) -> None:
        super()._check_rows(training)
        if not sparse.issparse(training.Y):
            return
        check_candidate_decision(self.decide, training.Y.shape[1])
        too_many = "where the labels are so many that only candidates are looked at"
        if self.aggregate not in ("auto", "mean"):
            raise ValueError(
                f'aggregate must be "auto" or "mean" {too_many}, got {self.aggregate!r}.'
            )
        if self._tuning() == "cv":
            raise ValueError(
                f'threshold must be "auto", "loo" or a number {too_many}, got {self.threshold!r}.'
            )

    def _tune(self, training: TrainingRows, seed: int) -> None:
        how = self._tuning()
        self._unseen: Any = None
        self.n_threshold_rows_ = 0
        if how is None:
            self.threshold_ = self._given_threshold()
            self.decision_: Decision = Cut(
                measure="threshold", threshold=self.threshold_, ties=self._ties()
            )
            return
        if how == "loo":
            rows, (confidence, *_) = self.view_.left_out(training)
        else:
            rows = np.arange(len(training.Y))
            confidence = self._cross_validated(training, np.random.default_rng(seed))
        self._unseen_rows = rows
        answer: Any = confidence
        seen = None
        if not sparse.issparse(training.Y):
            answer, cells = TableAnswer(confidence), training.cells
            whole = training.Y if cells is None else training.Y[(cells > 0).all(axis=1)]
            seen = np.unique(whole[alike_rows(np.packbits(whole, axis=1))[1]], axis=0)
        self._unseen = training.Y[rows], answer, training.cell_weights(rows), seen
        if isinstance(self.plan, str) and self.plan == LEFT_OUT:  # no decision is asked for
            return
        self.n_threshold_rows_ = len(rows)
        self.decision_ = self._decision(self.decide)
        self.threshold_ = self.decision_.threshold
        tell(self._chosen(), show=bool(self.verbose))

    def _decision(self, decide: Any) -> Decision:
        """Return the decision for a measure, fitted on left-out rows."""
        check_decision(decide, len(self.label_names_in_))
        if self._unseen is None:
            raise ValueError(
                "decide needs left-out predictions of training rows: fit "
                f'with threshold="auto", "loo" or "cv" instead of {self.threshold!r}.'
            )
        Y, answer, weights, seen = self._unseen
        return answer.fit_decision(decide, Y, sample_weight=weights, seen=seen, ties=self._ties())

    def _chosen(self) -> str:
        """Return in a line what was chosen, from what and on how many rows."""
        said = [f"{len(self.cover_)} labelsets of {self.cover_.k_text} labels"]
        if told := self.view_.told():
            said.append(f"views {told}")
        cut = "" if self.threshold_ is None else f", threshold {np.mean(self.threshold_):.2f}"
        rows = f"{self.n_threshold_rows_} left-out rows"
        return f"{'; '.join(said)}; decision for {self.decision_.measure}{cut}, on {rows}"
