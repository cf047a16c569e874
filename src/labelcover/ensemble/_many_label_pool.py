"""Very many labels: the learner, its view, and when it is the default."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_real
from labelcover.covers import Cover
from labelcover.ensemble._plan import CANDIDATES
from labelcover.ensemble._view import TrainingRows, View, draw_seeds
from labelcover.learners import LabelLearner
from labelcover.many_labels import CandidateModel, Candidates, check_fits


class ManyLabelPool(LabelLearner):
    """Three views of the candidate labels of each row, for a hundred thousand labels and more.

    Y is sparse all the way, and no table of rows by labels is ever made. Each row has some
    candidates: the labels whose mean training row is most like it (by the cosine), and those with
    the greatest shares in the leaves of a forest. Only candidates are looked at:

    - the cosine with the mean of the label, for training rows without the row itself;
    - the share in the leaves of trees that split by means, out-of-bag for training rows;
    - a linear SVM for each label, trained on the rows that have it and on those that have it
      as a candidate, out-of-fold for training rows.

    One logistic regression of these, fitted on out-of-sample predictions, says how likely a
    candidate is. Known labels of a row speak for and against those that share a labelset of the
    cover with them (`labelcover.many_labels._candidate_links`).

    It is the default of `LabelCoverClassifier` where Y is sparse and has more than 1,000 labels
    and 50 million cells.

    Parameters
    ----------
    n_candidates : int, default=100
        Candidates of a row. Of these, six in ten come from the means, the others from the forest.
    n_trees : int, default=32
    C : float, optional
        Cost of an error of the linear SVMs; by default the one with the least log-loss on
        left-out rows, for a part of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelcover.ensemble import LabelCoverClassifier, ManyLabelPool
    >>> random = np.random.default_rng(0)
    >>> Y = sparse.csr_array(random.random((200, 40)) < 0.05)
    >>> X = sparse.csr_array(Y @ random.random((40, 60)))
    >>> model = LabelCoverClassifier(ManyLabelPool(n_candidates=10), random_state=0).fit(X, Y)
    >>> model.predict_top(X[:3], 2).labels.shape
    (3, 2)
    """

    view = CANDIDATES

    def __init__(self, n_candidates=100, *, n_trees=32, C=None):
        self.n_candidates = n_candidates
        self.n_trees = n_trees
        self.C = C

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_integer("n_candidates", self.n_candidates, low=2)
        check_integer("n_trees", self.n_trees, low=1)
        if self.C is not None:
            check_real("C", self.C, above=0)


class ManyLabelView(View):
    """A `ManyLabelPool`, fitted.

    Attributes
    ----------
    model : CandidateModel
    """

    takes_known = True

    def __init__(self, learners: Any, cover: Cover, **_: Any) -> None:
        learner = learners[CANDIDATES]
        C = None if learner.C is None else float(learner.C)
        self.model = CandidateModel(cover, int(learner.n_candidates), int(learner.n_trees), C)

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit the model; one seed is for the forest, one for folds and linear SVMs."""
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        tables = rows.X, rows.Y, rows.n_values
        how["seeds"] = draw_seeds(seed, 2)
        found, candidates = self.model.fit(*tables, weights=rows.weights, **how)
        if rows.left_out is not None:
            self._left_out: Any = found, [candidates]
        return self

    def answer(self, X: Any, known: Any, checked: Any) -> Candidates:
        """Return the candidates of new rows, with their confidences, given what is known."""
        return self.model.candidates(X, known)

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of all labels of new rows, if they fit into memory."""
        check_fits(X.shape[0], len(self.model.others))
        return [self.model.candidates(X).dense()]

    def told(self) -> str:
        """Return in words what was found, for people to read."""
        return self.model.told()
