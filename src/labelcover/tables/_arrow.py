"""Arrow, imported when it is first used: it is slow to import, and of an extra."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["arrow_csv", "arrow_json", "pa", "parquet", "pc"]


class LazyModule:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by what looks at modules
            raise AttributeError(name)
        return getattr(import_module(self.name), name)


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv
    import pyarrow.json as arrow_json
    import pyarrow.parquet as parquet
else:
    pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")
    arrow_csv, arrow_json = LazyModule("pyarrow.csv"), LazyModule("pyarrow.json")
    parquet = LazyModule("pyarrow.parquet")
