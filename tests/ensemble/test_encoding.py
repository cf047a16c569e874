import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.covers import Cover
from labelcover.ensemble import _encoding as encoding_module
from labelcover.ensemble._encoding import encode, label_products
from labelcover.learners._problems import LinearTargets


def reference(Y, cover):
    """The plain NumPy twin of `encode`: classes, starts and patterns of every member."""
    classes, patterns = [], []
    for labels in cover:
        found, inverse = np.unique(Y[:, labels], axis=0, return_inverse=True)
        classes.append(inverse.ravel())
        patterns.append(np.pad(found, ((0, 0), (0, cover.k - len(labels)))))
    starts = np.cumsum([0] + [len(found) for found in patterns])
    return np.array(classes), starts, np.concatenate(patterns)


def assert_encoded_as_by_numpy(Y, cover):
    encoding, classes, first = encode(Y, [cover])
    of_members, starts, patterns = reference(Y, cover)
    np.testing.assert_array_equal(classes.array()[encoding.problem], of_members)
    np.testing.assert_array_equal(encoding.starts, starts)
    np.testing.assert_array_equal(encoding.patterns, patterns)
    # Every problem is posed once, in the order of the members that pose it first.
    _, first_of_kind, kind = np.unique(of_members, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, np.sort(first_of_kind))
    np.testing.assert_array_equal(first[encoding.problem], first_of_kind[kind.ravel()])
    np.testing.assert_array_equal(np.diff(encoding.offsets), np.diff(starts)[first])


def random_problem(seed, n, m, k, size, least=None):
    """Labelsets of k labels, or of any number from `least` to k."""
    random = np.random.default_rng(seed)
    Y = (random.random((n, m)) < random.random(m)).astype(np.uint8)
    least = k if least is None else least
    rows = [random.choice(m, random.integers(least, k + 1), replace=False) for _ in range(size)]
    return Y, Cover(rows, m)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    m=st.integers(1, 20),
    size=st.integers(1, 6),
    data=st.data(),
)
def test_encoding_equals_the_plain_one(seed, n, m, size, data):
    k = data.draw(st.integers(1, m))
    least = data.draw(st.sampled_from([1, k]))
    Y, cover = random_problem(seed, n, m, k, size, least)
    assert_encoded_as_by_numpy(Y, cover)


@pytest.mark.parametrize(("m", "k"), [(70, 70), (200, 150), (64, 63), (40, 31), (40, 32), (13, 13)])
def test_labelsets_longer_than_a_machine_word_are_encoded(m, k):
    Y, cover = random_problem(0, 60, m, k, 3)
    Y[1::2] = Y[::2]
    assert_encoded_as_by_numpy(Y, cover)
    _, cover = random_problem(1, 60, m, k, 8, least=1)
    assert not cover.has_one_size
    assert_encoded_as_by_numpy(Y, cover)


def test_the_pattern_of_the_class_of_a_row_is_what_the_row_says():
    Y, cover = random_problem(1, 50, 8, 5, 10, least=1)
    encoding, found, _ = encode(Y, [cover])
    classes = found.array()
    for j, labels in enumerate(cover):
        rows = encoding.patterns[encoding.starts[j] + classes[encoding.problem[j]]]
        np.testing.assert_array_equal(rows[:, : len(labels)], Y[:, labels])
        assert not rows[:, len(labels) :].any()


def test_read_only_labels_are_accepted():
    Y, cover = random_problem(2, 20, 5, 2, 4)
    Y.setflags(write=False)
    assert_encoded_as_by_numpy(Y, cover)


def test_members_that_pose_the_same_problem_are_found():
    Y = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=np.uint8)
    cover = Cover([[0, 2], [0, 1], [1, 2], [0, 2]], n_labels=3)
    encoding, classes, first = encode(Y, [cover])
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(encoding.problem, [0, 1, 0, 0])
    np.testing.assert_array_equal(classes.array(), [[1, 2, 0, 3], [0, 1, 0, 1]])
    np.testing.assert_array_equal(encoding.offsets, [0, 4, 6])


def test_labels_that_never_change_make_a_member_of_one_class():
    Y = np.zeros((5, 3), dtype=np.uint8)
    encoding, _, _ = encode(Y, [Cover([[0, 1], [1, 2]], n_labels=3)])
    np.testing.assert_array_equal(np.diff(encoding.starts), [1, 1])


@given(seed=st.integers(0, 10**6), reading=st.integers(0, 2), split=st.integers(0, 6))
def test_confidences_added_problem_by_problem_are_those_of_algorithm_2(seed, reading, split):
    Y, cover = random_problem(seed, 12, 6, 3, 7, least=1)
    Y[:, 5] = Y[:, 4]
    encoding, _, _ = encode(Y, [cover])
    n_problems = len(encoding.offsets) - 1
    distributions = np.random.default_rng(seed).random((5, encoding.offsets[-1])).round(1)
    expected = np.zeros((5, 6))
    for j, labels in enumerate(cover):
        low, high = encoding.offsets[encoding.problem[j]], encoding.offsets[encoding.problem[j] + 1]
        patterns = encoding.patterns[encoding.starts[j] :, : len(labels)]
        own = distributions[:, low:high]
        winner = patterns[own.argmax(axis=1)]
        sure = own.max(axis=1, keepdims=True)
        said = [winner, np.where(winner, sure, 1 - sure), own @ patterns[: high - low]][reading]
        expected[:, labels] += said / cover.label_counts[labels]
    sums = np.zeros((5, 6))
    split = min(split, n_problems)
    for problems in (slice(split, n_problems), slice(0, split)):
        low, high = encoding.offsets[problems.start], encoding.offsets[problems.stop]
        encoding.add(distributions[:, low:high], problems, sums, reading=reading)
    np.testing.assert_allclose(encoding.mean(sums), expected, atol=1e-12)


def one_hot_classes(targets):
    return targets.combine @ targets.dense() + targets.constant[:, None]


@pytest.mark.parametrize("k", [3, 14])
def test_classes_and_targets_of_some_rows_are_those_of_all(k, monkeypatch):
    monkeypatch.setattr(encoding_module, "BLOCK_ROWS", 7)
    Y, cover = random_problem(5, 40, 16, k, 12, least=1)
    Y[:, 3] = Y[:, 1]  # members that pose the same problem
    encoded, classes, _ = encode(Y, [cover])
    whole, rows = classes.array(), np.array([3, 20, 8])
    assert classes.shape == whole.shape
    np.testing.assert_array_equal(classes[:, rows], whole[:, rows])
    np.testing.assert_array_equal(classes[[2, 0]][:, rows], whole[[2, 0]][:, rows])
    offsets, weights = encoded.offsets, np.linspace(1, 2, 40)
    of_classes = LinearTargets.of_classes(whole, offsets)
    by_rule = LinearTargets.of_class_rule(classes.rule, Y, classes.counts(offsets), offsets)
    targets = [of_classes, by_rule, label_products(classes)]
    some = np.arange(int(offsets[2]))
    for each in targets[: 3 if k == 3 else 2]:
        one_hot = one_hot_classes(each)
        np.testing.assert_array_equal(one_hot, one_hot_classes(of_classes))
        np.testing.assert_allclose(each.held.counts(weights), each.dense() @ weights)
        few = each.of_some(some).of_rows(rows)
        found = one_hot_classes(few)
        np.testing.assert_array_equal(found, one_hot[some][:, rows])
