"""Every file of compiled loops is imported by a test, where plain twins are its oracle."""

import ast
from pathlib import Path

import numpy as np
import pytest

import labelcover
from labelcover.ensemble._confidence_kernels import (
    MARGINAL,
    VOTES,
    WINNER,
    add_members,
)

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
