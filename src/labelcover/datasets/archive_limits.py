"""How much an archive with a model may unpack to, told from the sizes that it declares."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

from labelcover.datasets.file_limits import check_bytes, check_ordinary

SCHEMA = "schema.json"  # of skops: what the objects are, and which arrays they hold


def check_archive(path: str | os.PathLike[str]) -> None:
    """Raise a `DataError` if the arrays of a model would take more memory than they may.

    An array counts as often as an object holds it, and with what an archive within the archive
    (a sparse table) unpacks to.

    Raises
    ------
    DataError
        If the archive is too large, or no ordinary file.
    """
    check_ordinary(path)
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        check_bytes(path, sum(sizes.values()), "what the archive unpacks to")
        for name in sizes:
            if name.endswith(".npz"):
                with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
                    sizes[name] += sum(info.file_size for info in inner.infolist())
        held = _files(json.loads(archive.read(SCHEMA))) if SCHEMA in sizes else []
    check_bytes(path, sum(sizes.get(name, 0) for name in held), "what the objects of it hold")


def _files(schema: Any) -> list[str]:
    """Return the files that the objects of a model hold, each as often as one does."""
    found, left = [], [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            name = node.get("file")
            found += [name] if isinstance(name, str) else []
            left += node.values()
        elif isinstance(node, list):
            left += node
    return found
