"""Time to design the covers of the paper, beside the paper's own times (Table 9, last column)."""

import resource
import time

from labelcover.covers import Cover, balancor_cover, inlac_cover

# Data set, labels m, k and σ of Table 7, and the design time of Table 9 where it names that k.
PAPER = [
    ("emotions", 6, 3, 7, 0.055), ("emotions", 6, 4, 3, None),
    ("yeast", 14, 3, 35, None), ("yeast", 14, 4, 18, None), ("yeast", 14, 5, 12, None),
    ("yeast", 14, 6, 9, None), ("yeast", 14, 7, 7, 0.055),
    ("slashdot", 22, 3, 88, 11.34), ("slashdot", 22, 4, 45, None), ("slashdot", 22, 5, 27, None),
    ("slashdot", 22, 6, 21, None), ("slashdot", 22, 7, 14, None),
    ("ohsumed", 23, 3, 95, None), ("ohsumed", 23, 4, 48, 50.44), ("ohsumed", 23, 5, 28, None),
    ("ohsumed", 23, 6, 23, None), ("ohsumed", 23, 7, 17, None),
    ("genbase", 27, 3, 125, None), ("genbase", 27, 4, 66, 213.37), ("genbase", 27, 5, 44, None),
    ("genbase", 27, 6, 31, None), ("genbase", 27, 7, 22, None),
    ("medical", 45, 3, 372, None), ("medical", 45, 4, 183, 12636.84), ("medical", 45, 5, 121, None),
    ("enron", 53, 3, 496, 6604.55), ("enron", 53, 4, 253, None), ("enron", 53, 5, 213, None),
    ("mediamill", 101, 5, 1187, 37314.23),
]  # fmt: skip


def timed(function, *arguments) -> tuple[Cover, float]:
    began = time.perf_counter()
    cover = function(*arguments)
    return cover, time.perf_counter() - began


def main() -> None:
    for function in (inlac_cover, balancor_cover):
        function(5, 3, 2)  # compile
    heads = ["data set", "m", "k", "σ paper", "σ INLAC", "σ BALANCOR"]
    heads += ["INLAC s", "BALANCOR s", "paper s", "paper / ours"]
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|")
    differing = 0
    for name, m, k, size, seconds in PAPER:
        inlac, inlac_s = timed(inlac_cover, m, k)
        balancor, balancor_s = timed(balancor_cover, m, k)
        differing += len(balancor) != size and m <= 53
        ratio = "" if seconds is None else f"{seconds / balancor_s:,.0f}"
        print(
            f"| {name} | {m} | {k} | {size} | {len(inlac)} | {len(balancor)} | {inlac_s:.3f} "
            f"| {balancor_s:.3f} | {'' if seconds is None else seconds} | {ratio} |"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nBALANCOR's size differs from the paper's in {differing} of 28 cases with m ≤ 53.")
    print(f"Peak memory of the process: {peak:.0f} MB.")


if __name__ == "__main__":
    main()
