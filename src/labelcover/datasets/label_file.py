"""The label file of MULAN: an XML document that lists the labels of an ARFF file."""

from __future__ import annotations

import os
import xml.sax

import defusedxml
import defusedxml.sax

from labelcover.datasets.dataset import DataError
from labelcover.datasets.file_limits import read_bytes


class _Labels(xml.sax.ContentHandler):
    """Collects ``(name, line)`` of every ``label`` element, nested ones after their parent."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        self.path, self.found = path, list[tuple[str, int]]()

    def setDocumentLocator(self, locator):
        self._locator = locator

    def startElement(self, tag, attributes):
        if tag.rpartition(":")[2] != "label":
            return
        line = self._locator.getLineNumber()
        if "name" not in attributes:
            raise DataError(self.path, "a label without a name, expected name=…", line)
        self.found.append((attributes["name"], line))


def read_label_file(path: str | os.PathLike[str]) -> list[tuple[str, int]]:
    """Return the labels of a MULAN label file in its order, each with its line.

    Raises
    ------
    DataError
        If the file is not XML, declares entities (which can be made to fill the memory), or does
        not list at least one label, each once.
    """
    handler = _Labels(path)
    try:
        defusedxml.sax.parseString(read_bytes(path), handler)
    except defusedxml.DefusedXmlException as error:
        raise DataError(
            path,
            f"declares an XML entity ({type(error).__name__}), expected a plain list of labels.",
        ) from None
    except xml.sax.SAXParseException as error:
        raise DataError(
            path,
            f"not XML ({error.getMessage()}), expected a MULAN label file.",
            error.getLineNumber(),
        ) from None
    if not handler.found:
        raise DataError(path, "lists no label, expected <label name=…> elements.")
    seen: dict[str, int] = {}
    for name, line in handler.found:
        if name in seen:
            raise DataError(path, f"label {name!r} is already on line {seen[name]}.", line)
        seen[name] = line
    return handler.found
