"""LEAD: a Bayesian network of labels, learnt on what single-label models leave unexplained."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer
from labelcover.ensemble import (
    LabelModel,
    ThresholdParameters,
    TrainingRows,
    View,
    draw_seeds,
    drawn_seed,
)
from labelcover.methods._member_rows import (
    fitted_leaving_out,
    fitted_singles,
    rows_with_labels,
    with_labels,
)
from labelcover.methods._network_search import (
    GaussianBic,
    correlations,
    network_levels,
    search_network,
)


@dataclass(eq=False, repr=False, kw_only=True)
class LeadClassifier(ThresholdParameters, LabelModel):
    """Multi-label learning by exploiting label dependency (LEAD).

    Labels that depend on each other only because both depend on the features need no model of
    their dependence. So LEAD first fits a model for each label alone, as binary relevance does,
    and looks at its errors, ``y - P(y = 1 | x)``: what is left there is dependence given the
    features. A Bayesian network of the errors, taken as Gaussian, says which labels are parents of
    which. Each label that has parents then gets a model with their values as further features:
    the true ones in training, those predicted at ½ for new rows, from the top of the network down.
    Labels without parents keep their first model; a network without links is binary relevance.

    Errors are those of left-out rows where the learner knows them, as
    `LeastSquaresClassifier` does by leave-one-out (of a sample of 2,048 rows if there are more).
    For other learners they are errors on the training rows, as published; a learner that repeats
    its training labels leaves none, and the network is then empty.

    The network is found by adding, removing and reversing links one at a time while the BIC
    improves, and again from random changes of the result. Two labels may be linked if one is
    among the 10 whose errors correlate most with those of the other.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`, whose scale, kernel
        and ridge are chosen once, for the labels alone.
    max_parents : int, default=3
        How many parents a label may have; 0 gives binary relevance.
    threshold : {"auto", "cv"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`. Parents are cut at ½.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    parents_ : list of tuple of int
        The parents of every label in the network.
    n_network_rows_ : int
        On the errors of how many rows the network was learnt.

    References
    ----------
    Zhang, Zhang: Multi-label learning by exploiting label dependency. KDD 2010, pages 999-1008.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods import LeadClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 3))
    >>> Y = (X[:, :2] + random.normal(size=(300, 2)) > 0).astype(int)
    >>> Y = np.column_stack([Y, Y[:, 0] ^ (random.random(300) < 0.1)])  # the first, nearly
    >>> model = LeadClassifier(random_state=0).fit(X, Y)
    >>> model.parents_
    [(2,), (), ()]
    >>> model.predict(X).shape
    (300, 3)
    """

    max_parents: int = 3

    @property
    def parents_(self) -> list[tuple[int, ...]]:
        """The parents of every label in the network, as numbers of labels."""
        view: Any = self.view_
        return view.parents

    @property
    def n_network_rows_(self) -> int:
        """On the errors of how many rows the network was learnt."""
        view: Any = self.view_
        return view.n_network_rows

    def _make_view(self, learner, training, seed):
        return LeadView(learner, int(self.max_parents), seed)

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        check_integer("max_parents", self.max_parents, low=0)


@dataclass(eq=False, repr=False)
class LeadView(View):
    """Members for single labels, and members for labels with the values of their parents.

    Parameters
    ----------
    learner : batch learner
    max_parents : int
    seed : int
        Of the search for the network.

    Attributes
    ----------
    parents : list of tuple of int
        The parents of every label.
    n_network_rows : int
        On the errors of how many rows the network was learnt.
    alone : CoverView
        The members of all labels without parents' values.
    given_parents : list of tuple
        For each set of parents, from the top of the network down: the parents, their children, and
        a `CoverView` of the children.
    """

    no_shares = "each label is predicted from others"

    learner: Any
    max_parents: int
    seed: int

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit all labels alone, learn the network, then fit the labels that have parents."""
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        training, self.alone = fitted_leaving_out(self.learner, rows, seed, **how)
        self.parents = self._learn_network(training)
        learner = self.learner.with_choices_of(self.alone.members)
        self.given_parents = []
        families = _families(self.parents)
        seeds = draw_seeds(drawn_seed(seed), len(families)).tolist()
        for (parents, children), own in zip(families, seeds, strict=True):
            given = rows_with_labels(rows, parents)
            view = fitted_singles(learner, children, given, own, **how)
            self.given_parents.append((parents, children, view))
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidence of every label given the predicted values of its parents."""
        confidence = self.alone.confidences(X)[0]
        for parents, children, view in self.given_parents:
            known = confidence[:, parents] > 0.5
            confidence[:, children] = view.confidences(with_labels(X, known))[0][:, children]
        return [confidence]

    def _learn_network(self, training: TrainingRows) -> list[tuple[int, ...]]:
        """Return the parents of every label, from the errors of the members fitted alone."""
        if training.left_out is None:
            rows, confidence = np.arange(len(training.Y)), self.alone.confidences(training.X)[0]
        else:
            rows, (confidence, *_) = self.alone.left_out(training)
        self.n_network_rows = len(rows)
        weights = None if training.weights is None else training.weights[rows]
        found = correlations(training.Y[rows] - confidence, weights)
        bic = GaussianBic(found, len(rows))
        return search_network(bic, max_parents=self.max_parents, seed=self.seed)


def _families(
    parents: list[tuple[int, ...]],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return each set of parents with the labels that have it, parents before their children."""
    levels = network_levels(parents)
    sets = sorted(
        {each for each in parents if each}, key=lambda each: (max(levels[list(each)]), each)
    )
    return [
        (np.array(each), np.array([j for j, own in enumerate(parents) if own == each]))
        for each in sets
    ]
