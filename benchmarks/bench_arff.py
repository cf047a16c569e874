"""Reading ARFF files: against liac-arff alone, in the same run.

Needs the data folder: ``LABELCOVER_DATA``, else ``../shared/data`` beside the project.
"""

import os
import time
from pathlib import Path

import arff

from labelcover.datasets import read_arff

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("LABELCOVER_DATA", ROOT.parent / "shared" / "data"))
FILES = ("delicious/delicious-train.arff", "genbase/genbase.arff", "yeast/yeast.arff")


def main() -> None:
    print(f"{'file':32}{'labelcover, s':>15}{'liac-arff, s':>15}{'ratio':>8}")
    for name in FILES:
        path = DATA / name
        if not path.exists():
            print(f"{name:32} is not in {DATA.name}")
            continue
        ours, theirs = seconds(read_arff, path), seconds(liac, path)
        print(f"{name:32}{ours:15.2f}{theirs:15.2f}{theirs / ours:8.1f}")


def liac(path):
    text = path.read_text(encoding="utf-8")
    kind = arff.LOD if "\n{" in text else arff.DENSE
    return arff.loads(text, encode_nominal=True, return_type=kind)


def seconds(function, path):
    start = time.process_time()
    function(path)
    return time.process_time() - start


if __name__ == "__main__":
    main()
