"""The plan of views: decided once from facts of the table, readable, and given by who wants."""

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.covers import Cover
from labelcover.ensemble import Plan, TableFacts, ViewPlan, _plan, plan_views
from labelcover.learners import LeastSquaresClassifier, LogisticClassifier
from labelcover.models import load_model, save_model

BOOSTED = "boosted trees"


def problem(n=60, d=5, m=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, m)) > 0).astype(int)


def names(plan):
    return [view.name for view in plan.views]


def facts(n=3_000, m=10):
    return TableFacts(n, 50, m, 1.0, False, False, n)


def sparse_facts(n, d, share):
    return TableFacts(n, d, 10, share, True, False, n)


# What is decided


@pytest.mark.parametrize(
    ("table", "views", "n_trees"),
    [
        (facts(), ["least squares", "forest", BOOSTED], 100),
        (sparse_facts(999, 50, 0.1), ["least squares", "neighbours", "forest", BOOSTED], 80),
        (sparse_facts(3_000, 50, 0.1), ["least squares", "neighbours", "forest", BOOSTED], 60),
        (sparse_facts(9_000, 9_000, 0.01), ["scores", "neighbours", "forest", BOOSTED], 200),
    ],
    ids=["dense", "few sparse rows", "sparse", "wide text"],
)
def test_the_views_follow_from_the_facts(table, views, n_trees):
    plan = plan_views(table)
    assert names(plan) == views
    assert plan.views[views.index("forest")].parameters == {"n_trees": n_trees}


@pytest.mark.parametrize(
    ("table", "only_left_out", "why"),
    [
        (facts(), True, "left-out predictions only"),
        (facts(n=59), False, "fewer than 60 rows"),
        (facts(n=30_000, m=200), False, "more than 4,000,000 cells of labels"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_trees_are_not_boosted_where_it_does_not_pay_and_the_plan_says_so(
    table, only_left_out, why
):
    plan = plan_views(table, only_left_out=only_left_out)
    assert BOOSTED not in names(plan)
    (said,) = [line for line in str(plan).splitlines() if line.startswith("no boosted trees: ")]
    assert why in said


def test_only_left_out_predictions_need_fewer_trees_and_all_rows():
    plan = plan_views(facts(), only_left_out=True)
    # As many trees as these are no surer than that one more would vote each way.
    assert plan.views[-1].parameters == {"n_trees": 64, "least": 1 / 64}
    assert plan.n_left_out == 3_000
    assert plan.quick
    assert plan_views(facts(m=100), only_left_out=True).views[-1].parameters["n_trees"] > 64


@pytest.mark.parametrize(
    ("n", "n_targets", "expected"),
    [(10, 5, 10), (512, 10**9, 512), (600, 5, 600), (5_000, 5, 2_048), (5_000, 10**9, 512)],
)
def test_so_many_rows_are_left_out(n, n_targets, expected):
    assert _plan.n_left_out_rows(n, n_targets) == expected


def test_targets_are_products_or_classes_whichever_are_fewer():
    triples = Cover([[0, 1, 2], [0, 3, 4]], n_labels=5)
    assert _plan.most_targets(triples, 1_000, 5) == 5 + 6 + 2
    assert _plan.most_targets(triples, 3, 5) == 2 * 3
    assert _plan.most_targets(None, 1_000, 5) == 5


def test_nonzeros_are_counted_as_learners_read_the_table():
    mostly_ones = np.ones((40, 10))
    mostly_ones[:4, 0] = 0
    assert TableFacts.of(mostly_ones, np.ones((40, 2))).nonzero_share == pytest.approx(0.01)
    stored = sparse.csr_array(np.ones((40, 10)) * 2)
    assert TableFacts.of(stored, np.ones((40, 2))).is_sparse


def test_numbers_beside_columns_of_a_category_make_no_sparse_table():
    numbers, category = np.arange(80.0).reshape(40, 2) + 1, np.eye(40)
    facts = TableFacts.of(np.hstack([numbers, category]), np.ones((40, 2)))
    assert facts.nonzero_share < 0.1
    assert not facts.is_sparse
    assert TableFacts.of(np.hstack([numbers[:, :1] % 2, category]), np.ones((40, 2))).is_sparse


# What people see


def test_a_plan_is_told_in_words(capsys):
    X, Y = problem()
    model = LabelCoverClassifier(random_state=0, verbose=True).fit(X, Y)
    assert str(model.plan_).splitlines() == [
        "least squares: always",
        "forest (n_trees 100): always",
        "boosted trees: they err elsewhere than the others",
        "left-out rows: 60",
    ]
    assert str(model.plan_) in capsys.readouterr().err
    named = LabelCoverClassifier(LeastSquaresClassifier(), random_state=0).fit(X, Y)
    assert "members: estimator is LeastSquaresClassifier()" in str(named.plan_)


def test_a_plan_that_is_given_is_fitted_and_stored(tmp_path):
    X, Y = problem()
    forest = ViewPlan("forest", parameters={"n_trees": 7})
    plan = Plan([ViewPlan("logistic"), forest], n_left_out=50)
    model = LabelCoverClassifier(plan=plan, random_state=0).fit(X, Y)
    assert model.view_.view_names == ["logistic", "forest"]
    assert model.view_.views[1].model.n_trees == 7
    assert model.n_threshold_rows_ == 50
    path = tmp_path / "model.skops"
    save_model(model, path)
    again = load_model(path)
    assert again.plan_ == model.plan_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_number_of_jobs_changes_nothing():
    X, Y = problem()
    one, two = (
        LabelCoverClassifier(random_state=0, n_jobs=n).fit(X, Y).predict_proba(X) for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


# What is refused


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("quick", "plan must be one of 'auto', 'left-out', got 'quick'"),
        (Plan([]), "plan must have at least one view"),
        (Plan([ViewPlan("boosting")]), "name of a view in plan must be one of .*boosting"),
        (Plan([ViewPlan("forest"), ViewPlan("forest")]), "'forest' twice"),
        (Plan([ViewPlan("forest")], n_left_out=61), "n_left_out of plan"),
    ],
    ids=str,
)
def test_plans_that_cannot_be_are_refused(plan, message):
    with pytest.raises(ValueError, match=message):
        LabelCoverClassifier(plan=plan).fit(*problem())


def test_a_plan_that_does_not_fit_its_table_is_refused_before_any_fit(monkeypatch):
    monkeypatch.setattr(LogisticClassifier, "fit_problems", None)
    with pytest.raises(ValueError, match=r"plan must not have the view 'logistic' on 10 rows"):
        LabelCoverClassifier(plan=Plan([ViewPlan("logistic")])).fit(*problem(10))


def test_a_plan_goes_with_the_default_only():
    model = LabelCoverClassifier(LeastSquaresClassifier(), plan=Plan([ViewPlan("forest")]))
    with pytest.raises(ValueError, match=r'plan must be "auto" where estimator is LeastSquares'):
        model.fit(*problem())
