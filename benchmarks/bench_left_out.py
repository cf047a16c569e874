"""What `labelcover report` promises without test data, against what test rows then have.

``python -m benchmarks.bench_left_out [packages.csv] [--rows 150,500] [--splits 8]``. The
file has the columns ``text`` and ``tags`` (separated by semicolons), and ``name``, which makes a
second table; without it only docstrings are read, tagged with their package, kind, module and
sections. A third of the tags are in two training rows only. For each split a model is trained on
some rows as by the command, and measured on 1,500 others. Columns are micro-F1: of left-out rows
decided by the decision that was fitted on them, of left-out rows as the page has it, and of test
rows; both again with tags that the model does not know counted as missed; then by how much the page
is above the test, with the standard error of the mean and the spread of single splits, and in how
many splits the test is inside the page's interval.
"""

import argparse
import csv
import tempfile
import warnings
from pathlib import Path

import numpy as np

from benchmarks.bench_tables import docstrings
from labelcover import LabelCoverClassifier
from labelcover.datasets import read_table
from labelcover.judgement import judged_left_out, judged_on
from labelcover.metrics import micro_f1
from labelcover.models import fit_model

TEST_ROWS = 1500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?")
    parser.add_argument("--rows", default="150,500")
    parser.add_argument("--splits", type=int, default=8)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of tags that are rare or not known
    tables = {"docstrings": list(docstrings(modules=True))}
    if options.path is not None:
        with open(options.path, encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        for column in ("text", "name"):
            tables[f"packages, {column}"] = [
                (line[column], line["tags"].split(";")) for line in lines
            ]
    print(
        "table | rows | tags | own decision | page | test | page, all | test, all | above | inside"
    )
    for name, rows in tables.items():
        for n in map(int, options.rows.split(",")):
            found = np.array([one_split(rows, n, seed) for seed in range(options.splits)])
            tags, *f1s, inside = found.mean(axis=0)
            above = found[:, 2] - found[:, 3]
            error = above.std(ddof=1) / np.sqrt(len(above))
            print(
                f"{name} | {n:,} | {tags:.0f} | {' | '.join(f'{f1:.3f}' for f1 in f1s)} "
                f"| {above.mean():+.3f} ± {error:.3f} ({above.std(ddof=1):.3f}) "
                f"| {inside * len(above):.0f} of {len(above)}",
                flush=True,
            )


def one_split(rows, n, seed):
    """Return the number of tags, the micro-F1s, and whether the test is inside the interval."""
    order = np.random.default_rng(seed).permutation(len(rows))
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.csv", Path(folder) / "test.csv"
        for path, chosen in ((train, order[:n]), (test, order[n : n + TEST_ROWS])):
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "tags"])
                writer.writerows([rows[i][0], ";".join(rows[i][1])] for i in chosen)
        dataset = read_table(train, tags="tags", separator=";", text=["text"])
        model = fit_model(LabelCoverClassifier(random_state=0), dataset)
        tested = judged_on(model, model.reading_.read(test, with_labels=True))
    kept = model.left_out_predictions_
    page = judged_left_out(model)
    return (
        len(model.label_names),
        micro_f1(kept.Y, model.decision_.decide(kept.confidence)),
        page.verdict.value,
        tested.verdict.value,
        page.all_tags_f1,
        tested.all_tags_f1,
        page.verdict.low <= tested.verdict.value <= page.verdict.high,
    )


if __name__ == "__main__":
    main()
