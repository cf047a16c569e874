"""The nearest training rows as a view of the default, on sparse tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.chunks import open_chunks
from labelcover.ensemble import Pool
from labelcover.ensemble._plan import MANY_ROWS, SPARSE_TREES, TREES_OF_SPARSE
from labelcover.learners._forest.feature_forest import SPARSE_TREES as ALONE
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.models import load_model, save_model


def text(n=260, d=60, m=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.poisson(0.08, (n, d)).astype(float)
    Y = (X @ random.normal(size=(d, m)) + random.normal(scale=0.3, size=(n, m)) > 0.4).astype(int)
    return X, Y


def model(**options):
    return LabelCoverClassifier(Pool(forest=LabelForest(15)), random_state=0, **options)


@pytest.fixture(scope="module")
def fitted():
    X, Y = text()
    return model().fit(sparse.csr_array(X[:200]), Y[:200]), X, Y


def test_a_sparse_table_has_it_however_it_is_stored(fitted):
    found, X, Y = fitted
    assert found.view_.view_names[-3:] == ["neighbours", "forest", "boosted trees"]
    assert "neighbours" in found.view_.told()
    dense = model().fit(X[:200], Y[:200])
    np.testing.assert_allclose(
        dense.predict_proba(X[200:]), found.predict_proba(sparse.csr_array(X[200:])), atol=1e-9
    )


def test_a_dense_table_has_it_not():
    X, Y = text()
    noise = np.random.default_rng(1).normal(size=X.shape)
    found = model().fit(X + noise, Y)
    assert [view.name for view in found.plan_.views] == ["least squares", "forest", "boosted trees"]
    assert "neighbours" not in found.view_.view_names


def test_rows_left_out_are_not_their_own_neighbours():
    """On labels that are mere chance, neighbours that had seen a row would be trusted."""
    X, _ = text(400)
    Y = (np.random.default_rng(2).random((400, 3)) < 0.3).astype(int)
    found = model().fit(sparse.csr_array(X), Y)
    assert found.view_.pool.weights[:, -2].max() < 0.5


def test_reasons_of_neighbours_are_the_words_in_common_and_add_up(fitted):
    found, X, _ = fitted
    new = sparse.csr_array(X[200:206])
    why = found.explain(new, label=[0, 1], n_reasons=300)
    assert all(reason.what.startswith("feature ") for reason in why if reason.part == "feature"
               and "that are 0" not in reason.what)  # fmt: skip
    odds = found.predict_proba(new)
    for (row, label), score in why.scores.items():
        own = [each.contribution for each in why if (each.row, each.label) == (row, label)]
        assert sum(own) == pytest.approx(score, abs=1e-8)
        p = odds[row, int(label.removeprefix("label"))]
        assert np.log(p / (1 - p)) == pytest.approx(score, abs=1e-8)


def test_a_saved_model_is_the_same(fitted, tmp_path):
    found, X, _ = fitted
    new = sparse.csr_array(X[200:])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(new), found.predict_proba(new))
    save_model(found, tmp_path / "model.labelcover")
    loaded = load_model(tmp_path / "model.labelcover")
    np.testing.assert_array_equal(loaded.predict_proba(new), found.predict_proba(new))


def test_rows_in_chunks_give_the_same_model():
    X, Y = text(4_200, d=40)
    rows, new = sparse.csr_array(X[:4_100]), sparse.csr_array(X[4_100:])
    chunked = model().fit(open_chunks(rows, Y[:4_100], chunk_rows=1_500))
    plain = model().fit(rows, Y[:4_100])
    assert "neighbours" in chunked.view_.view_names
    np.testing.assert_allclose(chunked.predict_proba(new), plain.predict_proba(new), atol=1e-6)


def test_other_views_stand_in_for_trees():
    X, Y = text(MANY_ROWS)
    rows = sparse.csr_array(X)
    default = LabelCoverClassifier(random_state=0)
    n_trees = {
        n: default.fit(rows[:n], Y[:n]).view_.views[2].model.n_trees
        for n in (MANY_ROWS - 1, MANY_ROWS)
    }
    assert n_trees == {MANY_ROWS - 1: TREES_OF_SPARSE, MANY_ROWS: SPARSE_TREES}
    alone = LabelCoverClassifier(LabelForest(), random_state=0).fit(rows, Y)
    assert alone.view_.model.n_trees == ALONE > TREES_OF_SPARSE > SPARSE_TREES


def test_a_data_frame_of_sparse_columns_is_a_sparse_table(fitted):
    found, X, Y = fitted
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)).add_prefix("word ")
    from_frame = model().fit(frame[:200], Y[:200])
    np.testing.assert_allclose(
        from_frame.predict_proba(frame[200:]),
        found.predict_proba(sparse.csr_array(X[200:])),
        atol=1e-12,
    )
    X = X.copy()
    X[[3, 5], [1, 1]] = np.nan
    gaps = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)).add_prefix("word ")
    with pytest.raises(ValueError, match=r"NaN in 'word 1' \(2\) of 260 rows"):
        from_frame.predict(gaps)
