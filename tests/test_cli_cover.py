import json
import subprocess
import sys
from pathlib import Path

import pytest

from labelcover.covers import Cover, balancor_cover

COMMAND = Path(sys.executable).with_name("labelcover")


def test_a_cover_is_designed_written_drawn_and_told(tmp_path):
    file, picture = tmp_path / "cover.json", tmp_path / "cover.png"
    words = ["cover", "14", "4", "2", "--strategy", "balancor", "-o", file, "--plot", picture]
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Cover.load(file) == balancor_cover(14, 4)
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert told["size"].strip() == "20"
    assert told["imbalance"].strip() == "1"
    assert told["coverage"].strip() == "100.00%"
    assert "seconds" in told
    assert "16 to 73" in done.stdout


def test_json_is_for_machines(command):
    facts = json.loads(command("cover", 10, 3, "--strategy", "exact", "--json")[1])
    assert (facts["size"], facts["lower bound"], facts["coverage"]) == (17, 17, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 4), "k must be an integer between 1 and 3, got 4"),
        ((5, 3, 4), "r must be an integer between 1 and 3, got 4"),
        ((4, 3, 2, "--size", 9), "size must be an integer between 1 and 4, got 9"),
        ((4, 3, 2, "--strategy", "best-of-all"), "--strategy must be one of"),
        ((4, "three"), "Invalid value for 'k'"),
        ((4,), "Missing argument 'k'"),
        ((4, 3, "--plot", "cover.xyz"), "--plot must end in one of"),
    ],
)
def test_mistakes_are_told_in_one_line_and_touch_no_file(command, tmp_path, arguments, message):
    file = tmp_path / "cover.json"
    file.write_text("precious")
    code, printed, errors = command("cover", *arguments, "-o", file)
    assert code == 2
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert printed == ""
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_that_does_not_exist_is_named(command, tmp_path):
    code, _, errors = command("cover", 4, 3, "-o", tmp_path / "nowhere" / "cover.json")
    assert code == 2
    assert "--output must lie in a folder that exists" in errors


def test_what_cannot_be_written_is_noticed_before_the_work(command, tmp_path, monkeypatch):
    monkeypatch.setattr("labelcover.covers.strategies_by_name", lambda: {"balancor": None})
    for words, message in (
        (["-o", tmp_path], "--output must be a file, got the folder"),
        (["--plot", tmp_path / "nowhere" / "c.png"], "--plot must lie in a folder that exists"),
        (["--plot", tmp_path / "c.xyz"], "--plot must end in one of"),
    ):
        code, _, errors = command("cover", 4, 3, *words)
        assert code == 2
        assert message in errors
