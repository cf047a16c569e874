"""A view of some columns of a table with text: of one text, or of all that is no text."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.ensemble._shares import Floats, Rows, Shares, Similar
from labelcover.ensemble._view import Block, LeftOut, TrainingRows, View


class BlockView(View):
    """Another view, which is given the features of some columns only.

    Parameters
    ----------
    view : View
        Of a pool.
    columns : tuple of str
        The names of blocks of the training rows.
    """

    block: Block

    def __init__(self, view: Any, columns: tuple[str, ...]) -> None:
        self.view, self.columns, self.least = view, columns, view.least
        self.names = tuple(f"{name} on {', '.join(columns)}" for name in view.names)

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit the view on its columns."""
        self.block, own = rows.of_columns(self.columns)
        self.view.fit(own, seed, n_jobs=n_jobs, verbose=verbose)
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the left-out confidences of the view; asked once, after `fit`."""
        return self.view.left_out(rows)

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows by their columns."""
        return self.view.confidences(self.block.read(X))

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums over columns; empty if they are."""
        return self.view.no_shares

    def shares(self, X: Any) -> list[Shares]:
        """Return what columns add; all others add nothing."""
        made = self.view.shares(self.block.read(X))
        return [BlockShares(each, self.block.features, X.shape[1]) for each in made]

    def similar(self, X: Any, n: int) -> Similar | None:
        """Return the training rows most like new ones by their columns."""
        return self.view.similar(self.block.read(X), n)

    @property
    def n_forest_rows(self) -> int:
        """On how many training rows trees were grown."""
        return self.view.n_forest_rows


class BlockShares(Shares):
    """The parts of some columns, put where these are among all columns."""

    def __init__(self, shares: Shares, features: NDArray[np.int64], n_features: int) -> None:
        self.shares, self.features, self.n_features = shares, features, n_features
        self.confidence, self.starts = shares.confidence, shares.starts
        self.scale = shares.scale

    def combined(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Return what columns add to a sum of the scores of all labels."""
        return self._placed(self.shares.combined(rows, weights))

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return what columns add to a sum of the log-odds of all labels."""
        return self._placed(self.shares.of_log_odds(rows, weights, label, least))

    def _placed(self, columns: Any) -> sparse.csr_array:
        own = sparse.csr_array(columns)
        shape = own.shape[0], self.n_features
        return sparse.csr_array((own.data, self.features[own.indices], own.indptr), shape=shape)
