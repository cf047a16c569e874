"""Sizes of the covers of the paper's data sets, and the time to load or to build covers.

``python -m benchmarks.bench_best_cover`` prints the tables of ``docs/covers.md``; with
``--sweep`` it also builds covers of up to 200 labels from scratch (minutes).
"""

import sys
import time
from itertools import combinations

import numpy as np

from labelcover.covers import Cover, build_cover
from labelcover.covers._catalogue import catalogued_cover, read_catalogue
from labelcover.covers.bounds import lower_bound, schonheim_bound

# (m, k): σ of the paper's Tables 7 and 10, and the smallest cover known in the literature.
PAIRS = {
    (6, 3): (7, 6), (6, 4): (3, 3), (14, 3): (35, 33), (14, 4): (18, 18), (14, 5): (12, 12),
    (14, 6): (9, 7), (14, 7): (7, 6), (22, 3): (88, 81), (22, 4): (45, 39), (22, 5): (27, 27),
    (22, 6): (21, 19), (22, 7): (14, 13), (23, 3): (95, 85), (23, 4): (48, 46), (23, 5): (28, 28),
    (23, 6): (23, 21), (23, 7): (17, 16), (27, 3): (125, 117), (27, 4): (66, 61),
    (27, 5): (44, 39), (27, 6): (31, 27), (27, 7): (22, 20), (45, 3): (372, 330),
    (45, 4): (183, 169), (45, 5): (121, 99), (53, 3): (496, 460), (53, 4): (253, 239),
    (53, 5): (213, 143), (101, 5): (1187, 505), (983, 6): (12441, None),
}  # fmt: skip
TRIPLES = {
    (6, 4): (6, 6), (14, 4): (92, 91), (14, 5): (37, 43), (14, 6): (19, 25), (14, 7): (11, 15),
    (22, 4): (386, 385), (22, 5): (155, 172), (22, 6): (78, 77), (22, 7): (45, 59),
    (23, 4): (443, 466), (23, 5): (178, 187), (23, 6): (89, 104), (23, 7): (51, 65),
}  # fmt: skip
FROM_SCRATCH = [(101, 5), (983, 6), (5000, 8)]


def uncovered(cover: Cover, r: int) -> int:
    """Count by sets what the cover misses: no code of the library."""
    seen = set()
    for row in cover.labelsets.tolist():
        seen.update(combinations(row, r))
    return sum(1 for c in combinations(range(cover.n_labels), r) if c not in seen)


def timed(function, *arguments, **named) -> tuple[Cover, float]:
    began = time.perf_counter()
    cover = function(*arguments, **named)
    return cover, time.perf_counter() - began


def print_sizes(rows: dict, r: int) -> None:
    print(f"\nr = {r}\n")
    heads = ["m", "k", "paper", "Schönheim", "lower bound", "record", "ours", "imbalance"]
    print("|", " | ".join([*heads, "missed", "load ms"]), "|")
    print("|---" * (len(heads) + 2) + "|")
    for (m, k), (paper, record) in rows.items():
        cover, seconds = timed(catalogued_cover, m, k, r)
        bound = lower_bound(m, k, r)
        shown = f"{paper} (impossible)" if paper < bound else paper
        cells = [m, k, shown, schonheim_bound(m, k, r), bound, record or "–", len(cover)]
        cells += [cover.imbalance, uncovered(cover, r), f"{1000 * seconds:.1f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)


def print_loading() -> None:
    times = {}
    for key in read_catalogue():
        times[key] = min(timed(catalogued_cover, *key)[1] for _ in range(3))
    within = {key: seconds for key, seconds in times.items() if key[0] <= 101}
    slowest = max(within, key=within.__getitem__)
    print(f"\n{len(times)} entries; slowest to load and verify with m ≤ 101: {slowest}, ", end="")
    print(f"{1000 * within[slowest]:.1f} ms (median {1000 * np.median(list(within.values())):.1f})")


def print_from_scratch() -> None:
    print("\nFrom scratch (effort instant)\n")
    print("| m | k | lower bound | ours | above | imbalance | method | s | CPU s |")
    print("|---" * 9 + "|")
    for m, k in FROM_SCRATCH:
        cpu = time.process_time()
        cover, seconds = timed(build_cover, m, k, effort="instant", random_state=0)
        cpu = time.process_time() - cpu
        assert cover.coverage(2) == 1.0
        above = len(cover) / cover.lower_bound - 1
        cells = [m, k, cover.lower_bound, len(cover), f"{above:.2%}", cover.imbalance]
        cells += [cover.method, f"{seconds:.2f}", f"{cpu:.2f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)


def is_far(cover: Cover) -> bool:
    return len(cover) > max(1.15 * cover.lower_bound, cover.lower_bound + 3)


def print_sweep() -> None:
    """Build every cover of up to 200 labels with k = 3 … 8, instantly or else by default effort.

    Far off is more than 15 % and more than three rows above the lower bound.
    """
    slowest, far, n = 0.0, [], 0
    for k in range(3, 9):
        for m in range(k + 1, 201):
            for effort in ("instant", "seconds"):
                cpu = time.process_time()
                cover = build_cover(m, k, effort=effort, random_state=0)
                slowest = max(slowest, time.process_time() - cpu)
                if not is_far(cover):
                    break
            n += 1
            if is_far(cover):
                far.append((m, k, cover.lower_bound, len(cover)))
        print(f"k = {k}: {n} covers so far, slowest {slowest:.1f} CPU s, far off: {far or 'none'}")


def main() -> None:
    for m, k, r in ((9, 4, 2), (9, 4, 3), (40, 5, 2), (107, 6, 2)):  # compile
        build_cover(m, k, r, effort=10_000, random_state=0)
    print_sizes(PAIRS, 2)
    print_sizes(TRIPLES, 3)
    print_loading()
    print_from_scratch()
    if "--sweep" in sys.argv:
        print_sweep()


if __name__ == "__main__":
    main()
