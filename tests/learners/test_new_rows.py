"""New rows are read alike whether scikit-learn checks them or a quick look shows they are fine."""

import numpy as np
import pandas as pd
import pytest

from labelcover.learners import LeastSquaresClassifier, LogisticClassifier, SMOClassifier
from labelcover.learners._products import row_products

X = np.random.default_rng(0).integers(0, 9, size=(80, 3)).astype(np.float64)
y = (X[:, 0] > X[:, 1]).astype(int)


@pytest.fixture(scope="module")
def model():
    return LeastSquaresClassifier(kernel="rbf").fit(X, y)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8, object, "list", "fortran"])
def test_numbers_of_every_kind_are_predicted_alike(model, kind):
    rows = {"list": X.tolist(), "fortran": np.asfortranarray(X)}.get(kind)
    rows = X.astype(kind) if rows is None else rows
    np.testing.assert_allclose(model.predict_proba(rows), model.predict_proba(X), atol=1e-12)
    one = model.predict_proba(rows[:1])
    np.testing.assert_allclose(one, model.predict_proba(X)[:1], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (np.where(X == 3, np.nan, X), "NaN"),
        (np.where(X == 3, np.inf, X), "infinity"),
        (X[:, :2], "2 features, but LeastSquaresClassifier is expecting 3"),
        (X[:0], "0 sample"),
        (X[0], "1D array"),
        (X[None], "dim 3"),
        (X.astype(str), "convert"),
        (X + 1j, "[Cc]omplex"),
    ],
)
def test_rows_that_are_no_table_of_finite_numbers_are_refused(model, rows, said):
    rows = np.where(rows == "3.0", "three", rows) if rows.dtype.kind == "U" else rows
    with pytest.raises(ValueError, match=said):
        model.predict(rows)


def test_finite_numbers_whose_sum_is_not_are_not_called_infinite(model):
    rows = np.full((2, 3), np.finfo(np.float64).max)
    with pytest.raises(ValueError, match=r"got 1.8e\+308 in column 0"):
        model._coding.read(model, rows)


def test_rows_without_names_are_told_where_the_training_table_had_them():
    frame = pd.DataFrame(X, columns=list("abc"))
    named = LeastSquaresClassifier().fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        of_array = named.predict_proba(X)
    np.testing.assert_allclose(named.predict_proba(frame), of_array, atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[["b", "a", "c"]])


def test_frames_of_any_numbers_are_read_alike():
    frame = pd.DataFrame(X, columns=list("abc"))
    model = LeastSquaresClassifier().fit(frame, y)
    expected = model.predict_proba(frame)
    for other in (frame.astype({"a": "int8"}), frame.astype("Int64"), frame.astype(object)):
        np.testing.assert_allclose(model.predict_proba(other), expected, atol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        model.predict(frame.where(frame != 3))
    with pytest.raises(ValueError, match=r"X must hold numbers .* in column 'a'"):
        model.predict(frame.assign(a="three"))


@pytest.mark.parametrize(
    "learner",
    [
        LeastSquaresClassifier(kernel="linear"),
        LeastSquaresClassifier(kernel="rbf", alpha=1e-9),
        LeastSquaresClassifier(kernel="rbf", n_landmarks=10),
        LogisticClassifier(C=1e5),
        SMOClassifier(),
    ],
)
def test_a_row_alone_is_answered_as_in_a_batch_to_the_last_bit(learner):
    new = np.random.default_rng(1).normal(size=(300, 30))
    fitted = learner.fit(new[:80], np.arange(80) % 3)
    together = fitted.predict_proba(new)
    for rows in (new, np.asfortranarray(new), pd.DataFrame(new).to_numpy()):
        assert np.array_equal(fitted.predict_proba(rows), together)
    for i in range(0, 300, 7):
        assert np.array_equal(fitted.predict_proba(new[i : i + 1])[0], together[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 300), (20, 5), (300, 1), (300, 40), (1000, 6)])
def test_products_of_a_row_do_not_depend_on_other_rows(shape, dtype):
    random = np.random.default_rng(2)
    rows, matrix = random.normal(size=(130, shape[0])), random.normal(size=shape).astype(dtype)
    for stored in (matrix, np.asfortranarray(matrix)):
        for table in (rows.astype(dtype), np.asfortranarray(rows, dtype=dtype)):
            together = row_products(table, stored)
            np.testing.assert_allclose(together, table @ stored, rtol=1e-3, atol=1e-3)
            for start, stop in ((0, 1), (5, 8), (9, 26), (129, 130)):
                assert np.array_equal(row_products(table[start:stop], stored), together[start:stop])
    assert row_products(rows[:0].astype(dtype), matrix).shape == (0, shape[1])
