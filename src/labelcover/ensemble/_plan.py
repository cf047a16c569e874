"""What is fitted for a table: decided once, from facts of the table, before anything is fitted.

Every cliff of the default (rows, columns, labels, share of nonzeros, cells) is a number in this
file, with its reason and the benchmark behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import check_choice, check_integer, check_random_state
from labelcover.covers import Cover
from labelcover.ensemble._view import TrainingRows
from labelcover.learners import FEW_ROWS, random_order
from labelcover.tables import NO_TEXT

# A table is wide text with more rows and more columns than `WIDE`, and no greater share of
# nonzeros than `TEXT_SHARE`. Least squares on the words is then an approximation with few
# landmarks, while logistic regression needs none, and its scores, a column per label, are a table
# on which least squares is quick (benchmarks/bench_text.py).
WIDE, TEXT_SHARE = 2_000, 0.1
# With neighbours and boosted trees beside them, fewer trees do on a sparse table, and fewer still
# where there are so many rows (benchmarks/bench_quality.py).
MANY_ROWS, SPARSE_TREES = 1_000, 60
# The number of trees that split by features of a dense, of a sparse table, and of wide text.
TREES, TREES_OF_SPARSE, TREES_OF_TEXT = 100, 80, 200
# Where nothing but left-out predictions is wanted, and there are fewer labels than these, so many
# trees find wrong labels as well as more, to .005 of average precision (benchmarks/bench_audit.py).
# Few trees that agree are less sure than many: one more votes each way, which finds more wrong
# labels of sparse tables.
MANY_LABELS, LEFT_OUT_TREES = 100, 64
LEFT_OUT_LEAST = 1 / LEFT_OUT_TREES
# A sparse label table with more columns and more cells than these is never made dense: only
# candidates of each row are looked at (benchmarks/bench_many_labels.py).
FEW_LABELS, FEW_LABEL_CELLS = 1_000, 50_000_000
# Views are weighed, and decisions fitted, on left-out predictions of all training rows up to
# `FEW_ROWS`, else of up to `MOST_LEFT_OUT`, but no more than `LEFT_OUT_NUMBERS` scores of
# targets (128 MB): more rows change no weight by more than its standard error.
MOST_LEFT_OUT, LEFT_OUT_NUMBERS = 2_048, 2**24
# What needs rows in memory sees all of them up to so many numbers (256 MB), else a sample of as
# many (benchmarks/bench_chunks.py).
SAMPLE_NUMBERS = 2**25
# Scores of logistic regressions for left-out rows come from so many folds, and are solved until so
# small a share of the gradient is left: a smaller one takes twice the time and pools no better.
N_FOLDS, SCORE_TOLERANCE = 3, 0.1
# Scores depend on each other, so fewer landmarks do than for words (benchmarks/bench_text.py).
SCORE_LANDMARKS = 300
# Up to so many products of a fit, threads of BLAS wait for each other longer than they work:
# least squares has one thread then, and the other views are fitted beside it. Above, views follow
# one another, each with all threads (benchmarks/bench_speed.py).
MOST_PRODUCTS = 10**10

# Trees are boosted from so many rows on, as folds of fewer say little, and up to so many cells of
# the label table: a tree costs as much as there are cells (benchmarks/bench_quality.py).
BOOSTED_ROWS, BOOSTED_CELLS = 60, 4_000_000

# Each text of a table has views of its own, beside those of numbers and categories; more texts than
# these are looked at together. A forest of `SPARSE_TREES` on all columns is beside them, on wide
# text too, where 200 trees have a log-loss 0.5 % lower and took a third of a fit of 20,000 rows
# (benchmarks/bench_tables.py).
MOST_TEXTS = 4

AUTO, LEFT_OUT = "auto", "left-out"
VIEWS = ("least squares", "scores", "logistic", "neighbours", "forest", "boosted trees")
# What a plan has where `estimator` names what is fitted: one view, or a pool of those above.
MEMBERS, CANDIDATES, POOL = "members", "candidates", "pool"


@dataclass(frozen=True)
class TableFacts:
    """What a plan looks at.

    Attributes
    ----------
    n_rows, n_columns, n_labels : int
    nonzero_share : float
        The share of nonzeros, nominal columns one-hot and 0/1 columns read by their rarer value.
    is_sparse : bool
        Whether the table is stored as a sparse one, or has few nonzeros.
    in_chunks : bool
        Whether rows are read in chunks.
    n_in_memory : int, optional
        How many rows are held in memory at once: all, or of rows in chunks a sample.
    blocks : mapping of tuple of str to TableFacts
        Where there is text beside other columns: the facts of each text, and of all that is no
        text, by the names of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble import TableFacts
    >>> facts = TableFacts.of(np.eye(8), np.ones((8, 2)))
    >>> facts.nonzero_share, facts.is_sparse
    (0.125, True)
    """

    n_rows: int
    n_columns: int
    n_labels: int
    nonzero_share: float
    is_sparse: bool
    in_chunks: bool = False
    n_in_memory: int | None = None
    blocks: "Mapping[tuple[str, ...], TableFacts]" = field(default_factory=dict)

    @classmethod
    def of(cls, X: Any, Y: Any, blocks: Mapping[str, Any] | None = None) -> "TableFacts":
        """Return the facts of a table of numbers and its labels, and of blocks of its columns."""
        n_values = np.zeros(X.shape[1], np.int32)
        return cls.of_rows(TrainingRows(X, Y, n_values, None, {}, blocks=blocks or {}))

    @classmethod
    def of_rows(cls, rows: TrainingRows) -> "TableFacts":
        """Return the facts of training rows; nonzeros of rows in chunks are those of a sample."""
        n, d = rows.X.shape
        held = rows.in_memory
        read = held.read.table
        found = read.count_nonzero() if sparse.issparse(read) else np.count_nonzero(read)
        share = float(found) / max(1, read.shape[0] * read.shape[1])
        few, in_chunks = held.read.is_sparse, rows.sample is not None
        # Which columns have views of their own: many texts are one block.
        columns: list[tuple[str, ...]] = [(name,) for name in rows.blocks]
        texts = tuple(name for name in rows.blocks if name != NO_TEXT)
        if len(texts) > MOST_TEXTS:
            columns = [*([(NO_TEXT,)] if NO_TEXT in rows.blocks else []), texts]
        columns = columns if len(columns) > 1 else []
        own = {each: cls.of_rows(rows.of_columns(each)[1]) for each in columns}
        return cls(n, d, rows.Y.shape[1], share, few, in_chunks, held.X.shape[0], own)

    @property
    def n_held(self) -> int:
        """How many rows are held in memory at once."""
        return self.n_rows if self.n_in_memory is None else self.n_in_memory

    @property
    def is_wide_text(self) -> bool:
        """Whether there are many rows and columns, and nearly all cells are 0."""
        return min(self.n_rows, self.n_columns) > WIDE and self.nonzero_share <= TEXT_SHARE

    def __str__(self) -> str:
        size = f"{self.n_rows:,} × {self.n_columns:,}"
        return f"{size} with {100 * self.nonzero_share:.2g} % nonzeros"


@dataclass(frozen=True)
class ViewPlan:
    """One view of a plan.

    Attributes
    ----------
    name : {"least squares", "scores", "logistic", "neighbours", "forest", "boosted trees"}
        ``"least squares"`` and ``"logistic"`` on single labels; ``"scores"``, logistic regression
        and least squares on its scores; ``"neighbours"``, the labels of the nearest training rows;
        ``"forest"``; ``"boosted trees"``.
    reason : str
        Why it is there, for people to read.
    parameters : mapping
        Parameters of the learner of the view, where it does not say itself.
    columns : tuple of str
        Which columns of a table with text it looks at: names of texts, and
        ``"numbers and categories"`` for all others. Empty are all columns.
    """

    name: str
    reason: str = "as asked"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name, and the columns unless these are all."""
        return f"{self.name} on {', '.join(self.columns)}" if self.columns else self.name

    def __str__(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"{self.title}{f' ({said})' if said else ''}: {self.reason}"


@dataclass(frozen=True)
class Plan:
    """What is fitted for a table, and why.

    A plan is made by `plan_views`; whoever wants another passes one,
    ``LabelCoverClassifier(plan=Plan([ViewPlan("forest"), ViewPlan("logistic")]))``.

    Attributes
    ----------
    views : sequence of ViewPlan
    n_left_out : int, optional
        How many training rows are left out to weigh the views and to fit the decision; by default
        all up to 512, else 512 to 2,048.
    quick : bool
        Whether nothing but left-out predictions is wanted, and least squares approximates where
        that pays.
    side_by_side : bool
        Whether views are fitted at the same time.
    is_pooled : bool
        Whether views are weighed and corrected; a learner that is named is the only view.
    notes : sequence of str
        What is left out, and why, for people to read.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble import TableFacts, plan_views
    >>> facts = TableFacts(12_000, 9_019, 40, 0.004, True)
    >>> print(plan_views(facts))
    scores (n_landmarks 300): 12,000 × 9,019 with 0.4 % nonzeros is wide text
    neighbours: a sparse table
    forest (n_trees 200): a sparse table
    boosted trees: they err elsewhere than the others
    left-out rows: 2,048
    """

    views: Sequence[ViewPlan]
    n_left_out: Any = None
    quick: bool = False
    side_by_side: bool = True
    is_pooled: bool = True
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [*map(str, self.views), *self.notes]
        if self.n_left_out is not None:
            lines.append(f"left-out rows: {self.n_left_out:,}")
        return "\n".join(lines)

    @property
    def has_members(self) -> bool:
        """Whether members over the labelsets are all there is: a label in none has no answer."""
        return any(view.name == MEMBERS for view in self.views)

    def for_rows(self, facts: TableFacts) -> "Plan":
        """Return the plan with a number of left-out rows where it does not say.

        Raises
        ------
        ValueError
            If it does not fit the table.
        """
        if not self.views:
            raise ValueError("plan must have at least one view, got none.")
        every = sorted({name for own in facts.blocks for name in own})
        for view in self.views:
            check_choice("the name of a view in plan", view.name, VIEWS)
            for name in view.columns:
                check_choice("columns of a view in plan", name, every)
        pairs = [(view.name, view.columns) for view in self.views]
        twice = {name for name, own in pairs if pairs.count((name, own)) > 1}
        if twice:
            raise ValueError(f"plan must name each view once, got {min(twice)!r} twice.")
        folded = {"scores", "logistic", "boosted trees"} & {view.name for view in self.views}
        if folded and facts.n_rows < 5 * N_FOLDS:
            raise ValueError(
                f"plan must not have the view {min(folded)!r} on {facts.n_rows} rows: "
                f"a fit in folds needs {5 * N_FOLDS}."
            )
        if self.n_left_out is None:
            return replace(self, n_left_out=n_left_out_rows(facts.n_rows, facts.n_labels))
        check_integer("n_left_out of plan", self.n_left_out, low=1, high=facts.n_rows)
        return self


def plan_views(
    facts: TableFacts, *, with_logistic: bool = False, only_left_out: bool = False
) -> Plan:
    """Return the plan of the default for a table.

    Parameters
    ----------
    facts : TableFacts
    with_logistic : bool, default=False
        Whether logistic regression is asked for on any table.
    only_left_out : bool, default=False
        Whether nothing but left-out predictions for all training rows is wanted.
    """
    how = {"with_logistic": with_logistic, "only_left_out": only_left_out}
    if facts.blocks:
        return _plan_blocks(facts, **how)
    views = []
    is_text = facts.is_wide_text
    if is_text:
        landmarks = {"n_landmarks": SCORE_LANDMARKS}
        views.append(ViewPlan("scores", f"{facts} is wide text", landmarks))
    else:
        views.append(ViewPlan("least squares", "always"))
        if with_logistic:
            views.append(ViewPlan("logistic", "asked for"))
    if facts.is_sparse:
        views.append(ViewPlan("neighbours", "a sparse table"))
    if only_left_out and facts.n_labels < MANY_LABELS:
        few = {"n_trees": LEFT_OUT_TREES, "least": LEFT_OUT_LEAST}
        views.append(ViewPlan("forest", "for left-out predictions only", few))
    elif not facts.is_sparse:
        views.append(ViewPlan("forest", "always", {"n_trees": TREES}))
    else:
        n_trees = TREES_OF_SPARSE if facts.n_held < MANY_ROWS else SPARSE_TREES
        n_trees = TREES_OF_TEXT if is_text else n_trees
        views.append(ViewPlan("forest", "a sparse table", {"n_trees": n_trees}))
    why_not = ""
    if only_left_out:
        why_not = "for left-out predictions only"
    elif facts.n_held < BOOSTED_ROWS:
        why_not = f"fewer than {BOOSTED_ROWS} rows"
    elif facts.n_held * facts.n_labels > BOOSTED_CELLS:
        why_not = f"more than {BOOSTED_CELLS:,} cells of labels"
    else:
        views.append(ViewPlan("boosted trees", "they err elsewhere than the others"))
    n = facts.n_held if is_text else facts.n_rows
    n_left_out = n if only_left_out else n_left_out_rows(n, facts.n_labels)
    width = min(facts.n_rows, facts.n_columns)
    is_small = facts.n_rows * width * facts.n_labels <= MOST_PRODUCTS
    beside = is_small and not facts.in_chunks
    notes = (f"no boosted trees: {why_not}",) if why_not else ()
    return Plan(tuple(views), n_left_out, only_left_out, beside, notes=notes)


def _plan_blocks(facts: TableFacts, **how: bool) -> Plan:
    """Return the plan for a table with text beside other columns.

    Each block has the views of a table of its own, so that a long text does not drown numbers, nor
    numbers that say nothing a text. A forest on all columns sees what they say together; where that
    is wide text, a linear view too.
    """
    whole = plan_views(replace(facts, blocks={}), **how)
    together = "what columns say together"
    views = [ViewPlan("forest", together, {"n_trees": SPARSE_TREES})]
    if whole.views[0].name == "scores":  # on other tables it does no good, nor harm
        views.append(replace(whole.views[0], reason=together))
    notes = []
    for columns, own in facts.blocks.items():
        plan = plan_views(own, **how)
        views += [replace(view, columns=columns) for view in plan.views]
        notes += [f"{note} ({', '.join(columns)})" for note in plan.notes]
    return replace(whole, views=tuple(views), notes=tuple(notes))


def plan_for(
    learner: Any, rows: TrainingRows, cover: Cover, plan: Any, aggregate: str = "mean"
) -> Plan:
    """Return the plan of a learner for training rows; `plan` is that of the estimator."""
    given = plan if isinstance(plan, Plan) else None
    only_left_out = given is None and check_choice("plan", plan, (AUTO, LEFT_OUT)) == LEFT_OUT
    if learner.view != POOL:
        if given is not None:
            raise ValueError(f'plan must be "auto" where estimator is {learner!r}, got {plan!r}.')
        n, m = rows.Y.shape
        reason = f"estimator is {getattr(learner, 'estimator', learner)!r}"
        if learner.view == MEMBERS:
            reason += f", combined by {aggregate!r}"
        n_left_out = n if only_left_out else n_left_out_rows(n, most_targets(cover, n, m))
        few_trees = learner.view == "forest" and only_left_out and m < MANY_LABELS
        view = ViewPlan(learner.view, reason, {"n_trees": LEFT_OUT_TREES} if few_trees else {})
        return Plan((view,), n_left_out, only_left_out, is_pooled=False)
    facts = TableFacts.of_rows(rows)
    if given is not None:
        return given.for_rows(facts)
    with_logistic = learner.logistic is not None
    return plan_views(facts, with_logistic=with_logistic, only_left_out=only_left_out)


def n_left_out_rows(n: int, n_targets: int) -> int:
    """Return how many of `n` training rows are left out, where so many targets are solved."""
    if n <= FEW_ROWS:
        return n
    return min(n, max(FEW_ROWS, min(MOST_LEFT_OUT, LEFT_OUT_NUMBERS // max(1, n_targets))))


def draw_left_out(
    rows: TrainingRows, n_left_out: int, learner: Any, seed: int
) -> NDArray[np.int64]:
    """Return which training rows are left out, of those in memory; in random order if many.

    A seed of the learner's own decides first.
    """
    own = getattr(learner, "random_state", None)
    seed = seed if own is None else int(check_random_state(own).randint(2**31 - 1))
    n = rows.Y.shape[0] if rows.sample is None else len(rows.sample)
    found = random_order(n, seed)[:n_left_out]
    return found if rows.sample is None else rows.sample[found]


def most_targets(cover: Cover | None, n: int, n_labels: int) -> int:
    """Return how many targets least squares solves at most on `n` rows.

    Products of the labels of the labelsets, or the classes of these, which are no more than rows.
    """
    if cover is None:
        return n_labels
    sizes, counts = np.unique(cover.labelset_sizes, return_counts=True)
    of_size = list(zip(sizes.tolist(), counts.tolist(), strict=True))
    products = sum(
        min(comb(n_labels, i), sum(count * comb(k, i) for k, count in of_size))
        for i in range(1, cover.k + 1)
    )
    return int(min(products, sum(count * min(2**k, n) for k, count in of_size)))


def labels_are_many(Y: Any) -> bool:
    """Return whether labels are sparse, and so many that tables of them are not made dense."""
    if not sparse.issparse(Y) or Y.ndim != 2:
        return False
    n, m = Y.shape
    return bool(m > FEW_LABELS and n * m > FEW_LABEL_CELLS)
