"""Write docs/methods.md: one table of all multi-label methods.

    python tools/make_methods_table.py           # writes the page
    python tools/make_methods_table.py --check   # fails if the page is not up to date

A row for every estimator of labelcover and labelcover.methods; a new one needs an entry here.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import labelcover
import labelcover.methods
from labelcover.experiments.named_methods import METHODS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
INTRODUCTION = """# The methods

Every method is a scikit-learn classifier with the same parameters (`estimator`, `threshold`, \
`n_jobs`, `random_state`, …). With m labels and covers of σ labelsets of k labels, the third \
column says what is fitted; a member is one single-label model, a clone of `estimator`, on all \
rows unless it says otherwise. Tuning a threshold by cross-validation adds five fits on four \
fifths of the rows. The name is that of `labelcover compare --methods`; those without one are used \
from Python.

This page is written by `tools/make_methods_table.py`.
"""
HEADER = ["class", "name", "what is fitted", "what it models", "when to use it", "reference"]

ROKACH = "Rokach, Schclar, Itach 2014"
TSOUMAKAS_RAKEL = "Tsoumakas, Katakis, Vlahavas 2011"
TENENBOIM = "Tenenboim-Chekina, Rokach, Shapira 2010"
DEMBCZYNSKI = "Dembczyński, Cheng, Hüllermeier 2010"


@dataclass(frozen=True)
class Entry:
    """What the table says of a method."""

    fitted: str
    models: str
    use: str
    reference: str


#: In the order of the table.
ENTRIES = {
    "LabelCoverClassifier": Entry(
        "m members of two classes, solved jointly, a forest, boosted trees, neighbours on sparse "
        "tables, and the links of a cover",
        "each label, then which labels speak for and against each other: labelsets that occur, "
        "links",
        "the default: good probabilities, a decision for the measure that counts",
        "this library",
    ),
    "BalancorClassifier": Entry(
        "σ members of up to 2^k classes",
        "dependence within labelsets: every pair (or triple) of labels, every label equally often",
        "few labelsets, and all pairs matter alike",
        ROKACH,
    ),
    "DDBalancorClassifier": Entry(
        "σ members of up to 2^k classes, after annealing a permutation of the labels",
        "as BALANCOR, with dependent labels together",
        "labels that clearly depend on each other in threes",
        ROKACH,
    ),
    "InlacClassifier": Entry(
        "σ members of up to 2^k classes",
        "dependence within labelsets: every pair (or triple) of labels",
        "all pairs matter, and labels need not be in equally many labelsets",
        ROKACH,
    ),
    "BalcoClassifier": Entry(
        "σ members of up to 2^k classes",
        "dependence within labelsets, every label equally often",
        "a number of members that is given",
        ROKACH,
    ),
    "RakelClassifier": Entry(
        "σ members of up to 2^k classes",
        "dependence within random labelsets; members vote",
        "the baseline of ensembles over labelsets",
        TSOUMAKAS_RAKEL,
    ),
    "RakelPlusPlusClassifier": Entry(
        "σ members of up to 2^k classes",
        "dependence within random labelsets; members say how sure they are",
        "as RAKEL, where members have probabilities",
        ROKACH,
    ),
    "BinaryRelevanceClassifier": Entry(
        "m members of two classes",
        "every label on its own",
        "first of all: quick, and hard to beat in Hamming loss",
        "Tsoumakas, Katakis 2007",
    ),
    "StackedBinaryRelevanceClassifier": Entry(
        "2m members of two classes; the second m on the outputs of the first",
        "each label given the outputs for correlated labels",
        "correlated labels, at twice the cost of BR",
        "Godbole, Sarawagi 2004; Tsoumakas et al. 2009",
    ),
    "LabelPowersetClassifier": Entry(
        "one member, a class for each labelset that occurs",
        "the joint distribution, over labelsets seen in training",
        "few labels and few distinct labelsets; subset accuracy",
        "Tsoumakas, Katakis, Vlahavas 2010",
    ),
    "PrunedSetsClassifier": Entry(
        "one member, a class for each frequent labelset",
        "the joint distribution, over frequent labelsets",
        "as label powerset, with many rare labelsets",
        "Read, Pfahringer, Holmes 2008",
    ),
    "EnsembleOfPrunedSetsClassifier": Entry(
        "ten members as of pruned sets, each on 63 % of the rows",
        "the joint distribution; combines labelsets to new ones",
        "as pruned sets, where accuracy is worth ten fits",
        "Read, Pfahringer, Holmes 2008",
    ),
    "DependentSubsetsClassifier": Entry(
        "one member for each subset of labels, and one for each union that is tried",
        "the joint distribution within disjoint subsets of dependent labels",
        "labels that fall into groups; subset accuracy",
        TENENBOIM,
    ),
    "EnsembleOfDependentSubsetsClassifier": Entry(
        "the members of ten partitions of the labels",
        "the joint distribution within subsets of several partitions",
        "as dependent subsets, where groups overlap",
        TENENBOIM,
    ),
    "EnsembleOfChainsClassifier": Entry(
        "10m members of two classes with up to m - 1 further features",
        "each label given those before it, in ten random orders",
        "dependence that no group of few labels shows",
        "Read, Pfahringer, Holmes, Frank 2009, 2011",
    ),
    "ProbabilisticChainClassifier": Entry(
        "m members of two classes with up to m - 1 further features; a prediction looks at up to "
        "2^m labelsets (m ≤ 15), or at a beam or a sample of them",
        "the joint distribution, as a product along a chain",
        "calibrated members, and the best answer for subset accuracy, Hamming loss or F1 of a row",
        DEMBCZYNSKI,
    ),
    "EnsembleOfProbabilisticChainsClassifier": Entry(
        "as many chains as asked for, each as of a probabilistic chain",
        "the joint distribution, averaged over orders of the labels",
        "as a probabilistic chain, whose order then matters less",
        DEMBCZYNSKI,
    ),
    "HomerClassifier": Entry(
        "a model of up to 3 meta-labels for each inner node of a tree, on the rows of its labels: "
        "about 3m/2 members of two classes with BR, most on few rows",
        "sets of similar labels, then labels within them",
        "hundreds of labels, few of them on a row; quick predictions",
        "Tsoumakas, Katakis, Vlahavas 2008",
    ),
    "LeadClassifier": Entry(
        "m members of two classes, a network of the labels, and a member for each label with "
        "parents, with up to 3 further features",
        "each label given its parents: dependence that the features do not explain",
        "to see which labels depend on each other given X, and to use just that",
        "Zhang, Zhang 2010",
    ),
}


def offered_classes() -> list[str]:
    """Return the names of all estimators that labelcover offers."""
    names = [*labelcover.__all__, *labelcover.methods.__all__]
    return [name for name in names if name.endswith("Classifier")]


def page() -> str:
    """Return the page.

    Raises
    ------
    ValueError
        If an estimator has no entry.
    """
    offered = offered_classes()
    missing = [name for name in offered if name not in ENTRIES]
    if missing:
        raise ValueError(f"ENTRIES must have an entry for {missing[0]}: add it to {__file__}.")
    names = {kind.__name__: name for name, kind in METHODS.items()}
    rows = [HEADER, ["---"] * len(HEADER)]
    for kind, entry in ENTRIES.items():
        if kind in offered:
            facts = [entry.fitted, entry.models, entry.use, entry.reference]
            rows.append([f"`{kind}`", names.get(kind, "–"), *facts])
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return f"{INTRODUCTION}\n{table}"


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the page is not up to date")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is not up to date: run python tools/make_methods_table.py")


if __name__ == "__main__":
    main()
