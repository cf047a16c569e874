"""Very many labels: Y stays sparse, and each row has some candidates."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.ensemble import _plan
from labelcover.ensemble._many_label_pool import ManyLabelPool, ManyLabelView
from labelcover.ensemble._plan import labels_are_many
from labelcover.ensemble._pool import PooledView
from labelcover.many_labels import _candidates as candidates
from labelcover.metrics import micro_f1, precision_at
from labelcover.models import is_trusted


def text(n=240, m=50, d=120, seed=0, extra=0):
    """Return words of some labels each, the labels in pairs that go together."""
    random = np.random.default_rng(seed)
    first = random.integers(m // 2, size=n)
    Y = np.zeros((n, m), dtype=np.uint8)
    Y[np.arange(n), 2 * first] = 1
    Y[np.arange(n), 2 * first + 1] = random.random(n) < 0.8
    Y[np.arange(n), random.integers(m, size=n)] = 1
    words = (random.random((m, d)) < 0.08) * random.random((m, d))
    X = Y @ words + 0.3 * (random.random((n, d)) < 0.05)
    Y = np.column_stack([Y, np.zeros((n, extra), dtype=np.uint8)])
    return sparse.csr_array(X), sparse.csr_array(Y)


def small(**options):
    pool = ManyLabelPool(n_candidates=20, n_trees=4, C=3.0)
    return LabelCoverClassifier(pool, random_state=0, **options)


@pytest.fixture(scope="module")
def data():
    X, Y = text(400)
    return X[:240], Y[:240], X[240:], Y[240:]


@pytest.fixture(scope="module")
def model(data):
    X, Y, *_ = data
    return small().fit(X, Y)


def test_top_labels_are_those_of_the_whole_table(model, data):
    X_new = data[2]
    P = model.predict_proba(X_new)
    assert ((P > 0) & (P < 1)).all()
    for n_top in (1, 5, 30, 50):
        top = model.predict_top(X_new, n_top)
        np.testing.assert_allclose(top.confidence, -np.sort(-P, axis=1)[:, :n_top], rtol=1e-12)
        np.testing.assert_array_equal(np.take_along_axis(P, top.labels, axis=1), top.confidence)
        assert all(len(set(row)) == n_top for row in top.labels.tolist())


def test_labels_are_found(model, data):
    _, _, X_new, Y_new = data
    top = model.predict_top(X_new, 3).table(50)
    assert precision_at(Y_new, top, 1) > 0.8
    predicted = model.predict(X_new)
    assert sparse.issparse(predicted)
    assert predicted.shape == (160, 50)
    assert set(predicted.data.tolist()) == {1}
    assert micro_f1(Y_new, predicted) > 0.6


def test_the_cover_holds_dependent_labels_by_default(model):
    together = {
        a
        for a in range(25)
        for row in model.cover_.labelsets.tolist()
        if {2 * a, 2 * a + 1} <= set(row)
    }
    assert len(together) > 15
    assert "dependent" in model.cover_.method


def test_confidences_are_calibrated_on_rows_not_seen(model):
    rows, Y, confidence = model.left_out_predictions_
    assert len(rows) == model.n_threshold_rows_ == 240
    assert sparse.issparse(Y)
    assert sparse.issparse(confidence)
    expected, seen = confidence.sum(), Y.multiply(confidence > 0).sum()
    assert expected == pytest.approx(seen, rel=0.05)


@pytest.mark.parametrize("decide", ["micro_f1", "macro_f1", "example_f1", "hamming_loss", 2, 30])
def test_decisions_take_candidates(model, data, decide):
    _, _, X_new, Y_new = data
    predicted = model.predict(X_new, decide=decide)
    if isinstance(decide, int):
        assert (np.diff(predicted.indptr) == decide).all()
    else:
        assert micro_f1(Y_new, predicted) > 0.5
        assert small(decide=decide).fit(*data[:2]).decision_.measure == decide


@pytest.mark.parametrize("decide", ["subset_accuracy", micro_f1, 51, 0])
def test_other_decisions_are_refused_before_anything_is_fitted(data, decide):
    with pytest.raises(ValueError, match="decide must be one of"):
        small(decide=decide).fit(*data[:2])


@pytest.mark.parametrize("options", [{"aggregate": "votes"}, {"threshold": "cv"}])
def test_parameters_that_need_a_table_are_refused(data, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        small(**options).fit(*data[:2])


def test_a_given_threshold_cuts(data):
    X, Y, X_new, _ = data
    model = small(threshold=0.3).fit(X, Y)
    P = model.predict_proba(X_new)
    np.testing.assert_array_equal(model.predict(X_new).toarray(), P > 0.3)
    own = small(threshold=np.full(50, 0.3)).fit(X, Y)
    np.testing.assert_array_equal(own.predict(X_new).toarray(), P > 0.3)


@pytest.mark.parametrize("n_top", [0, 51, 2.5, True])
def test_a_wrong_number_of_labels_is_named(model, data, n_top):
    with pytest.raises(ValueError, match="n_top must be an integer"):
        model.predict_top(data[2], n_top)


def test_a_table_that_does_not_fit_is_refused_with_the_alternative(model, data, monkeypatch):
    monkeypatch.setattr(candidates, "_memory", lambda: 100_000)
    with pytest.raises(ValueError, match=r"predict_top\(X, n_top\)"):
        model.predict_proba(data[2])
    assert model.predict_proba(data[2][:50]).shape == (50, 50)
    assert model.predict_top(data[2], 5).labels.shape == (160, 5)


FORMS = {
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(float),
    "matrix": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "csc": sparse.csc_array,
    "dense": lambda Y: Y.toarray(),
}


@pytest.mark.parametrize("form", [*FORMS, "explicit zeros"])
def test_labels_of_any_form_give_the_same_model(model, data, form):
    X, Y, X_new, _ = data
    if form == "explicit zeros":
        given = sparse.csr_array(Y, dtype=float)
        given = given + sparse.csr_array(np.eye(240, 50))
        given.data[np.isin(given.data, (1, 2))] = 1.0
        given = sparse.csr_array((given.data, given.indices, given.indptr), given.shape)
        known = Y.toarray()
        rows = np.repeat(np.arange(240), np.diff(given.indptr))
        given.data[:] = known[rows, given.indices]
        assert given.nnz > Y.nnz
    else:
        given = FORMS[form](Y)
    again = small().fit(X, given).predict_top(X_new, 5)
    expected = model.predict_top(X_new, 5)
    np.testing.assert_array_equal(again.labels, expected.labels)
    np.testing.assert_array_equal(again.confidence, expected.confidence)


@pytest.mark.parametrize("value", [2, 0.5, -1])
def test_other_values_are_named(data, value):
    Y = data[1].toarray().astype(float)
    Y[3, 7] = value
    with pytest.raises(ValueError, match=f"only 0 and 1, got {value}"):
        small().fit(data[0], sparse.csr_array(Y))


def test_duplicates_are_summed_as_scipy_does_and_named():
    X, Y = text(20)
    cells = sparse.coo_array(Y)
    rows, labels = (np.append(each, each[:1]) for each in cells.coords)
    twice = sparse.coo_array((np.ones(len(rows), dtype=np.int64), (rows, labels)), Y.shape)
    with pytest.raises(ValueError, match="only 0 and 1, got 2"):
        small().fit(X, twice)


def test_labels_without_rows_are_never_predicted():
    X, Y = text(100, extra=30)
    model = small().fit(X, Y)
    assert model.predict(X)[:, 50:].nnz == 0
    assert (model.predict_top(X, 3).labels < 50).all()
    assert model.predict_proba(X)[:, 50:].max() < 0.01


def test_more_labels_than_rows_and_no_table_of_them():
    X, Y = text(60, extra=200_000)
    # The loops are loaded before memory is watched.
    small().fit(X, Y[:, :60])
    tracemalloc.start()
    model = small().fit(X, Y)
    predicted = model.predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert predicted.shape == Y.shape
    # The sketch of a tree has 64 columns of 4 bytes for each label: no more than two at a time.
    assert peak < 200_050 * 64 * 4 * 3


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows_and_rows_without_labels(n):
    X, Y = text(n)
    Y = sparse.csr_array(Y.toarray() * (np.arange(n) % 2 == 0)[:, None])
    model = small().fit(X, Y)
    assert model.predict_top(X, 3).labels.shape == (n, 3)


def test_no_labels_at_all():
    X, Y = text(30)
    model = small().fit(X, sparse.csr_array(Y.shape, dtype=np.uint8))
    assert model.predict(X).nnz == 0
    assert (model.predict_proba(X) < 0.1).all()


def test_a_row_without_features_gets_labels(model):
    top = model.predict_top(sparse.csr_array((2, 120)), 5)
    assert np.isfinite(top.confidence).all()
    assert (top.labels >= 0).all()


def test_results_do_not_depend_on_the_number_of_jobs(model, data):
    X, Y, X_new, _ = data
    two = small(n_jobs=2).fit(X, Y).predict_top(X_new, 5)
    expected = model.predict_top(X_new, 5)
    np.testing.assert_array_equal(two.labels, expected.labels)
    np.testing.assert_array_equal(two.confidence, expected.confidence)


def test_rows_of_weight_zero_do_not_count(data):
    X, Y, X_new, _ = data
    weights = np.ones(240)
    weights[200:] = 0
    with_weights = small().fit(X, Y, sample_weight=weights).predict_top(X_new, 5)
    without = small().fit(X[:200], Y[:200], sample_weight=np.ones(200)).predict_top(X_new, 5)
    np.testing.assert_array_equal(with_weights.confidence, without.confidence)


def test_dense_tables_have_candidates_too():
    X, Y = text()
    model = small().fit(X.toarray() + 1.0, Y)
    assert precision_at(Y, model.predict_top(X.toarray() + 1.0, 3).table(50), 1) > 0.7


def test_the_default_is_chosen_by_the_size_of_a_sparse_table(monkeypatch, data):
    X, Y, *_ = data
    assert not labels_are_many(Y)
    assert labels_are_many(sparse.csr_array((60_000, 1_001)))
    assert not labels_are_many(sparse.csr_array((60_000, 1_000)))
    assert not labels_are_many(sparse.csr_array((40_000, 1_001)))
    monkeypatch.setattr(_plan, "FEW_LABELS", 40)
    monkeypatch.setattr(_plan, "FEW_LABEL_CELLS", 1_000)
    sparsely = LabelCoverClassifier(random_state=0).fit(X, Y)
    assert isinstance(sparsely.view_, ManyLabelView)
    assert sparsely.view_.model.C > 0
    with pytest.raises(ValueError, match="left_out_proba gives a table"):
        LabelCoverClassifier().left_out_proba(X, Y)
    densely = LabelCoverClassifier(random_state=0, size=20).fit(X, Y.toarray())
    assert isinstance(densely.view_, PooledView)


def test_many_tags_become_a_sparse_table(monkeypatch, data):
    X, Y, X_new, Y_new = data
    tags = [[f"tag{j:02}" for j in row.indices] for row in Y]
    monkeypatch.setattr(_plan, "FEW_LABELS", 40)
    monkeypatch.setattr(_plan, "FEW_LABEL_CELLS", 1_000)
    model = LabelCoverClassifier(random_state=0).fit(X, tags)
    assert isinstance(model.view_, ManyLabelView)
    found = model.predict_tags(X_new)
    predicted = model.predict(X_new)
    assert [len(row) for row in found] == np.diff(predicted.indptr).tolist()
    true = [{f"tag{j:02}" for j in row.indices} for row in Y_new]
    shared = sum(len(own & set(row)) for own, row in zip(true, found, strict=True))
    assert shared > 0.6 * sum(map(len, true))
    assert 0 < model.score(X_new, [list(own) for own in true]) < 1


def test_models_are_written_and_read(model, data, tmp_path):
    import skops.io

    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    again = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    expected = model.predict_top(data[2], 5)
    np.testing.assert_array_equal(again.predict_top(data[2], 5).labels, expected.labels)
    assert all(is_trusted(name) for name in skops.io.get_untrusted_types(file=path))


def test_wrong_parameters_are_named(data):
    for name, value in {"n_candidates": 1, "n_trees": 0, "C": 0.0}.items():
        with pytest.raises(ValueError, match=f"{name} must be"):
            LabelCoverClassifier(ManyLabelPool(**{name: value})).fit(*data[:2])
