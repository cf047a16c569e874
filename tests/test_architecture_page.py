"""The architecture page names files that exist, and every room."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "labelcover"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def exists(name):
    places = [ROOT / name, SOURCE / name, *SOURCE.rglob(name)]
    return any(place.exists() for place in places)


def test_every_file_that_the_page_names_exists():
    files = set(re.findall(r"(?<![*\w])[\w/]+\.(?:py|md)\b", PAGE))
    folders = set(re.findall(r"`([\w/]+/)`", PAGE))
    assert [name for name in files | folders if not exists(name)] == []


def test_every_room_is_named():
    rooms = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    assert [room for room in rooms if f"{room}/" not in PAGE] == []
