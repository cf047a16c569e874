"""What features add to the log-odds of logistic members."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.features import numeric
from labelcover.learners.logistic.logistic_members import LogisticMembers


class LogisticWeights:
    """The shares of columns in what logistic members say of some rows.

    The share of a column is 0 where the scaled column is 0, such as where a word is absent.

    Parameters
    ----------
    members : LogisticMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.
    """

    def __init__(self, members: LogisticMembers, X: Any) -> None:
        self.members = members
        self.table = sparse.csr_array(members.scaling.transform(numeric(X, members.n_values)))

    def of_log_odds(self, problem: int, positive: int) -> tuple[float, NDArray[np.float64]]:
        """Return the start of the log-odds of one of two classes, and the shares of columns.

        Parameters
        ----------
        problem : int
            One with two classes.
        positive : {0, 1}
            The class whose log-odds are explained.
        """
        n_columns = self.table.shape[1]
        start, weights = log_odds_weights(self.members, problem, positive, n_columns)
        return start, np.asarray(self.table.multiply(weights).toarray())


def log_odds_weights(
    members: LogisticMembers, problem: int, positive: int, n_columns: int
) -> tuple[float, NDArray[np.float64]]:
    """Return the intercept of the log-odds of one of two classes, and the weights of columns."""
    # The one column of coefficients of such a problem is for its second class.
    sign = 1.0 if positive == 1 else -1.0
    own = sign * members.coefficients[:, members.starts[problem]]
    weights = np.zeros(n_columns)
    weights[members.kept] = own[:-1]
    return float(own[-1]), weights
