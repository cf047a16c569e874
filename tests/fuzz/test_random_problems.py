"""Estimators on random problems; `make fuzz` tries as many as one likes."""

from pathlib import Path

import pytest
from checking import check_problem
from fuzz_estimators import FAILED
from random_problems import Problem, random_problem

# Seeds, so many at a time that a failure is found quickly.
FIRST, N_PROBLEMS, AT_ONCE = 10**6, 300, 25


@pytest.mark.parametrize("path", sorted(FAILED.glob("*.json")), ids=lambda path: path.stem)
def test_what_failed_once_does_not_fail_again(path: Path):
    check_problem(Problem.read(path))


@pytest.mark.parametrize("first", range(FIRST, FIRST + N_PROBLEMS, AT_ONCE))
def test_random_problems_are_answered_or_refused_with_a_sentence(first):
    for seed in range(first, first + AT_ONCE):
        try:
            check_problem(random_problem(seed))
        except Exception as error:
            raise AssertionError(f"random_problem({seed}) failed: {error!r}") from error


def test_a_problem_is_the_same_after_storage(tmp_path):
    for seed in range(20):
        problem = random_problem(seed)
        path = tmp_path / "problem.json"
        path.write_text(problem.to_json())
        assert Problem.read(path) == problem == random_problem(seed)
