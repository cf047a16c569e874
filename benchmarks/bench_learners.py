"""Time to train and ask RAKEL's members, all together and member by member with scikit-learn's.

C4.5 stands beside `DecisionTreeClassifier`, SMO beside ``SVC(kernel="linear")``; the members are
those of RAKEL with k = 3. The data is looked for where `labelcover.datasets.load` looks. Where
python-weka-wrapper3 and a JVM are installed, WEKA's own J48 and SMO are timed too.
"""

import logging
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from labelcover.covers import Cover, random_cover
from labelcover.datasets import Dataset, load
from labelcover.ensemble._cover_view import CoverView
from labelcover.ensemble._encoding import encode
from labelcover.ensemble._view import TrainingRows
from labelcover.learners import C45Classifier, SMOClassifier

SIZES = {"scene": 7, "yeast": 35}
CORES = 2
REPEATS = 2
WEKA_MEMBERS = 7  # WEKA is slow, so it gets this many members and the rest are reckoned
WEKA = {"C4.5": "weka.classifiers.trees.J48", "SMO": "weka.classifiers.functions.SMO"}


def seconds(function) -> tuple[float, object]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def together(estimator, data: Dataset, cover: Cover) -> tuple[float, float]:
    """Return the seconds to fit and to ask all members at once, on two cores."""
    all_numeric = np.zeros(data.X.shape[1], dtype=np.int32)
    training = TrainingRows(data.X, data.Y, all_numeric, None, {})
    seeds = np.zeros(len(cover), dtype=np.int64)
    fit, view = seconds(lambda: CoverView(estimator, [cover]).fit(training, seeds, n_jobs=CORES))
    members = view.members
    everyone = slice(0, len(members.offsets) - 1)
    ask, _ = seconds(lambda: members.distributions(members.prepare(data.X), everyone))
    return fit, ask


def member_classes(data: Dataset, cover: Cover) -> np.ndarray:
    """Return the class of every row for every member, a row per member."""
    encoding, classes, _ = encode(data.Y, [cover])
    return classes.array()[encoding.problem]


def one_by_one(make, data: Dataset, cover: Cover) -> tuple[float, float]:
    """Return the seconds to fit and to ask the members one after the other."""
    of_members = member_classes(data, cover)
    fit, members = seconds(lambda: [make().fit(data.X, classes) for classes in of_members])
    ask, _ = seconds(lambda: [member.predict(data.X) for member in members])
    return fit, ask


def best_of(timings: list[tuple[float, float]]) -> tuple[float, float]:
    fit, ask = zip(*timings, strict=True)
    return min(fit), min(ask)


def write_arff(path: Path, data: Dataset, y: np.ndarray) -> None:
    heads = [f"@attribute x{f} numeric" for f in range(data.X.shape[1])]
    classes = ",".join(map(str, np.unique(y)))
    rows = [",".join([*map(repr, row.tolist()), str(c)]) for row, c in zip(data.X, y, strict=True)]
    text = ["@relation member", *heads, f"@attribute class {{{classes}}}", "@data", *rows]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def weka_fit_seconds(learner: str, data: Dataset, cover: Cover) -> float:
    """Return the seconds that WEKA needs to fit all members, from the first few of them."""
    from weka.classifiers import Classifier
    from weka.core.converters import Loader

    spent = []
    with tempfile.TemporaryDirectory() as folder:
        for j, y in enumerate(member_classes(data, cover)[: WEKA_MEMBERS + 1]):
            path = Path(folder) / f"{j}.arff"
            write_arff(path, data, y)
            rows = Loader("weka.core.converters.ArffLoader").load_file(os.fspath(path))
            rows.class_is_last()
            classifier = Classifier(classname=WEKA[learner])
            spent.append(seconds(lambda c=classifier, r=rows: c.build_classifier(r))[0])
    timed = spent[1:] if len(spent) > WEKA_MEMBERS else spent  # the first warms the JVM up
    return float(np.mean(timed)) * len(cover)


def start_weka() -> bool:
    try:
        from weka.core import jvm
    except ImportError:
        return False
    logging.getLogger("weka").setLevel(logging.WARNING)
    jvm.start(packages=False)
    return True


def main() -> None:
    has_weka = start_weka()
    print("| data set | σ | learner | fit s | peer fit s | times faster | ask s | peer ask s "
          "| times faster | WEKA fit s | times faster |")  # fmt: skip
    print("|---" * 11 + "|")
    pairs = {
        "C4.5": (C45Classifier(), lambda: DecisionTreeClassifier(random_state=0)),
        "SMO": (SMOClassifier(), lambda: SVC(kernel="linear")),
    }
    for name, size in SIZES.items():
        try:
            data = load(name)
        except FileNotFoundError as error:
            print(f"{name} left out: {error}")
            continue
        cover = random_cover(data.Y.shape[1], 3, size=size, random_state=0)
        for learner, (estimator, make_peer) in pairs.items():
            together(estimator, data, cover)  # compile
            ours, peers = [], []
            for _ in range(REPEATS):  # in turns, so that both see the same load of the machine
                ours.append(together(estimator, data, cover))
                peers.append(one_by_one(make_peer, data, cover))
            (fit, ask), (peer_fit, peer_ask) = best_of(ours), best_of(peers)
            weka = weka_fit_seconds(learner, data, cover) if has_weka else None
            print(
                f"| {name} | {size} | {learner} | {fit:.3f} | {peer_fit:.3f} "
                f"| {peer_fit / fit:.1f} | {ask:.3f} | {peer_ask:.3f} | {peer_ask / ask:.1f} "
                + (f"| {weka:.2f} | {weka / fit:.1f} |" if weka else "| | |"),
                flush=True,
            )
    if not has_weka:
        print("\nWEKA was not timed: python-weka-wrapper3 is not installed.")


if __name__ == "__main__":
    main()
