"""Hostile files end with a sentence or a result; `make fuzz` reads as many as one likes."""

import sys

import pytest
from fuzz_files import FAILED
from hostile_files import hostile_file
from reading import Reader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bounds memory as Linux does")
FIRST, N_FILES, AT_ONCE = 10**6, 90, 15


@pytest.fixture(scope="module")
def reader():
    reading = Reader()
    yield reading
    reading.close()


@pytest.mark.parametrize("path", sorted(FAILED.iterdir()), ids=lambda path: path.name)
def test_what_failed_once_does_not_fail_again(reader, path):
    assert reader.ending(path) in ("read", "refused")


@pytest.mark.parametrize("first", range(FIRST, FIRST + N_FILES, AT_ONCE))
def test_hostile_files_are_read_or_refused_with_a_sentence(reader, tmp_path, first):
    for seed in range(first, first + AT_ONCE):
        suffix, content = hostile_file(seed)
        path = tmp_path / f"{seed}{suffix}"
        path.write_bytes(content)
        ending = reader.ending(path)
        assert ending in ("read", "refused"), f"hostile_file({seed}): {ending}"


def test_a_file_of_a_seed_is_always_the_same():
    for seed in range(12):
        made = hostile_file(seed)
        if made[0] not in (".skops", ".csv.gz", ".jsonl.gz"):  # these hold the time
            assert hostile_file(seed) == made
