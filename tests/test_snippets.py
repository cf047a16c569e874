"""What README and the pages of docs/ show runs as shown: Python snippets and commands."""

import csv
import re
import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from labelcover.datasets import KNOWN

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Files of a user, and their rows.
SONGS = {"songs.csv": 90, "new-songs.csv": 10, "test.csv": 30, "asked-songs.csv": 60}
TICKETS = {"tickets.csv": 60, "new-tickets.csv": 10, "test-tickets.csv": 30}


def blocks(page, language):
    """Yield the blocks of code of a page, each after as many empty lines as precede it there."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        if fence[1] == language:
            yield "\n" * text.count("\n", 0, fence.start(2)) + fence[2]


def python_of(page):
    return list(blocks(page, "python"))


def commands_of(page):
    lines = "\n".join(blocks(page, "")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("labelcover ")]


def comparisons_of(page):
    """Return the commands that take a minute."""
    return [words for words in commands_of(page) if words[1] == "compare"]


def quick_commands_of(page):
    return [words for words in commands_of(page) if words[1] != "compare"]


def pages_with(reader):
    return [pytest.param(page, id=page.name) for page in PAGES if reader(page)]


def needed_sets(code):
    """Return the sets that the code loads and that are not part of the package."""
    return [name for name in re.findall(r'\bload\("([^"]+)"', code) if not KNOWN[name].embedded]


def write_songs(folder):
    """Write the user's tables that the pages name: three features, three moods that follow."""
    random = np.random.default_rng(0)
    for name, n_rows in SONGS.items():
        X = random.normal(size=(n_rows, 3))
        Y = (X + random.normal(scale=0.3, size=X.shape) > 0).astype(int)
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            moods = [] if name == "new-songs.csv" else ["mood:calm", "mood:sad", "mood:loud"]
            writer.writerow(["tempo", "energy", "length", *moods])
            for i, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
                if name == "asked-songs.csv":  # some were not asked for every mood
                    y[i % 3] = ""
                writer.writerow([*x, *y[: len(moods)]])


def write_tickets(folder):
    """Write the user's tables of text and tags."""
    random = np.random.default_rng(0)
    words = {
        "hardware": "printer paper screen",
        "account": "password login user",
        "network": "cable router signal",
    }
    for name, n_rows in TICKETS.items():
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["ticket", "subject", "hours", "tags"])
            for i in range(n_rows):
                tags = [tag for tag in words if random.random() < 0.6] or ["account"]
                known = [word for tag in tags for word in words[tag].split()]
                subject = " ".join(random.permutation([*known, "please", "help"])[:6])
                writer.writerow([f"T-{i}", subject, f"{i % 7},5", ", ".join(tags)])


def written_files(words):
    """Return what a command is told to write."""
    options = {"-o", "--output", "--plot"}
    return [after for word, after in pairwise(words) if word in options]


@pytest.mark.parametrize("page", pages_with(python_of))
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for code in python_of(page):
        if needed_sets(code):
            request.getfixturevalue("shared_data")  # skips, with the reason, if it is absent
        exec(compile(code, page, "exec"), namespace)


@pytest.fixture
def run_commands(command, tmp_path, monkeypatch):
    """Run commands in a folder with the user's tables; none may warn."""
    write_songs(tmp_path)
    write_tickets(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(commands):
        for words in commands:
            code, _, errors = command(*words[1:])
            assert code == 0, f"{shlex.join(words)}\n{errors}"
            for name in written_files(words):
                assert Path(name).exists(), f"{shlex.join(words)} did not write {name}"

    return run


@pytest.mark.parametrize("page", pages_with(quick_commands_of))
def test_the_commands_of_a_page_run(page, run_commands):
    run_commands(quick_commands_of(page))


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with(comparisons_of))
def test_the_comparisons_of_a_page_run(page, run_commands):
    run_commands(comparisons_of(page))


def test_the_reader_finds_what_the_readme_shows():
    """A reader that found nothing would let every page pass."""
    readme = ROOT / "README.md"
    assert "LabelCoverClassifier" in "".join(python_of(readme))
    assert {"cover", "train", "predict"} <= {words[1] for words in commands_of(readme)}


def test_sets_outside_the_package_are_recognised():
    assert needed_sets('load("debtags"); load("emotions")') == ["emotions"]
