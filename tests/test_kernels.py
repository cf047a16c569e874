"""Every file of compiled loops is imported by a test, where plain twins are its oracle."""

import ast
import itertools
from pathlib import Path

import numpy as np
import pytest

import labelcover
from labelcover.ensemble._encoding_kernels import (
    MARGINAL,
    VOTES,
    WINNER,
    add_members,
    product_rows,
)
from labelcover.many_labels._labelset_lift_kernels import count_patterns, labelset_changes

SOURCE = Path(labelcover.__file__).parent
TESTS = Path(__file__).parent


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_every_file_of_kernels_is_imported_by_a_test():
    files = [path.relative_to(SOURCE.parent) for path in SOURCE.rglob("*_kernels.py")]
    assert files
    tested = {name for path in TESTS.rglob("*.py") for name in imported_modules(path)}
    assert {".".join(path.with_suffix("").parts) for path in files} - tested == set()


@pytest.mark.parametrize("reading", [VOTES, WINNER, MARGINAL])
@pytest.mark.parametrize("n", [1, 300])
def test_members_add_the_probabilities_of_classes_with_a_label(reading, n):
    random = np.random.default_rng(n)
    labelsets = np.array([[0, 2], [1, 3], [4, -1]], dtype=np.int32)
    lows, highs = np.array([0, 3, 5]), np.array([3, 5, 7])
    patterns = random.integers(2, size=(7, 2)).astype(np.uint8)
    P = random.random((7, n))
    sums = np.zeros((n, 5))
    add_members(P, lows, lows, highs, patterns, labelsets, reading, sums)
    expected = np.zeros((n, 5))
    for labelset, low, high in zip(labelsets, lows, highs, strict=True):
        of_member = P[low:high].T
        best, sure = of_member.argmax(axis=1), of_member.max(axis=1)
        for position, label in enumerate(labelset):
            if label < 0:
                continue
            has = patterns[low:high, position]
            said = {
                VOTES: has[best],
                WINNER: np.where(has[best] == 1, sure, 1 - sure),
                MARGINAL: of_member @ has,
            }
            expected[:, label] += said[reading]
    np.testing.assert_allclose(sums, expected)


def test_rows_of_a_product_have_all_its_labels():
    Y = np.random.default_rng(0).random((2000, 4)) < 0.7
    products = [(0,), (0, 1), (0, 1, 3), (2,), (2, 3)]
    parents, labels = np.array([-1, 0, 1, -1, 3]), np.array([0, 1, 3, 2, 3])
    starts, indices = product_rows(np.ascontiguousarray(Y.T).astype(np.uint8), parents, labels)
    for p, product in enumerate(products):
        expected = np.flatnonzero(Y[:, product].all(axis=1))
        np.testing.assert_array_equal(indices[starts[p] : starts[p + 1]], expected)


LABELSETS = np.array([[0, 1, 2], [1, 3, -1], [2, 4, -1]], dtype=np.int32)
HOLDER_STARTS, HOLDERS = np.array([0, 1, 3, 5, 6, 7]), np.array([0, 0, 1, 0, 2, 1, 2])


def patterns_of(labelset, chance_of):
    """Yield the number, the labels and the probability of each pattern of a labelset."""
    labels = [j for j in labelset if j >= 0]
    p = [chance_of.get(j, 0) for j in labels]
    for bits in itertools.product([0, 1], repeat=len(labels)):
        chance = np.prod(np.where(bits, p, np.subtract(1, p)))
        number = sum(b << at for at, b in enumerate(bits))
        yield number, dict(zip(labels, bits, strict=True)), chance


def test_patterns_of_labelsets_are_counted_and_change_log_odds():
    random = np.random.default_rng(0)
    candidates = np.array([random.permutation(5)[:3] for _ in range(30)], dtype=np.int32)
    candidates[::4, 2] = -1
    P, truth = random.uniform(0.1, 0.9, (30, 3)), random.random((30, 3)) < 0.5
    weights = random.uniform(0.5, 2, 30)
    observed, expected = np.zeros((3, 8)), np.zeros((3, 8))
    rows = []
    for i, labels in enumerate(candidates):
        of_row = {j: c for c, j in enumerate(labels.tolist()) if j >= 0}
        shared = [s for s in range(3) if len(of_row.keys() & set(LABELSETS[s].tolist())) >= 2]
        rows.append(({j: P[i, c] for j, c in of_row.items()}, of_row, shared))
        for s in shared:
            true = {j for j, c in of_row.items() if truth[i, c]}
            for q, bits, chance in patterns_of(LABELSETS[s].tolist(), rows[-1][0]):
                expected[s, q] += weights[i] * chance
                observed[s, q] += weights[i] * all(b == (j in true) for j, b in bits.items())
    given = (LABELSETS, HOLDER_STARTS, HOLDERS)
    counts = count_patterns(candidates, P, truth, weights, *given, 5)
    np.testing.assert_allclose(counts[0], observed)
    np.testing.assert_allclose(counts[1], expected)

    changes = np.zeros_like(P)
    for i, (chance_of, of_row, shared) in enumerate(rows):
        for j, c in of_row.items():
            found = []
            for s in shared:
                if j not in LABELSETS[s]:
                    continue
                odds = [0.0, 0.0]
                for q, bits, chance in patterns_of(LABELSETS[s].tolist(), chance_of):
                    odds[bits[j]] += chance * (observed[s, q] + 2) / (expected[s, q] + 2)
                p = chance_of[j]
                found.append(np.log(odds[1] / odds[0]) - np.log(p / (1 - p)))
            changes[i, c] = np.mean(found) if found else 0
    assert changes.any()
    new = (np.zeros((0, 3), dtype=bool), np.zeros(0))
    np.testing.assert_allclose(labelset_changes(candidates, P, new, counts, *given, 2.0), changes)
