"""Find the base blocks of optimal covers of pairs by quadruples, for every m that has some.

    python tools/find_quadruple_families.py            # all of them, a minute or two
    python tools/find_quadruple_families.py --only 103 106

They are written to ``covers/_designs/quadruple_families.jsonl``, a line ``[m, a, blocks]`` each,
which `labelcover.covers._designs.difference` reads and says what they mean. The search is
deterministic.
"""

from __future__ import annotations

import argparse
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from labelcover._files import replacing
from labelcover.covers._designs.difference import FAMILIES, HOLE

PATH = Path(str(files("labelcover.covers._designs") / FAMILIES))
# Below, the few base blocks cannot have the differences wanted; above, the search takes long.
LEAST_LABELS, MOST_LABELS = 37, 300
# The fewest labels for which the triples of the classes 7 and 10 modulo 12 have enough differences.
LEAST_WITH_HOLE = 103
# Nodes of the search until the order of differences is drawn anew, and in all.
NODES, MOST_NODES = 100_000, 4_000_000


def has_family(m: int) -> bool:
    """Whether base blocks are looked for."""
    least = LEAST_WITH_HOLE if m % 12 in (7, 10) else LEAST_LABELS
    return m % 12 not in (2, 5) and least <= m <= MOST_LABELS


def family(m: int) -> tuple[int | None, list[list[int]]] | None:
    """Return the middle label of a short orbit, where there is one, and the base blocks."""
    nodes = 0
    attempt = 0
    while nodes < MOST_NODES:
        rng = np.random.default_rng(attempt)
        attempt += 1
        n, n_triples, wanted, a = wanted_differences(m, rng)
        order = 1 + rng.permutation(n - 1)
        n_differences = int(wanted[1 : n // 2 + 1].sum())
        n_blocks = n_triples + (n_differences - 3 * n_triples) // 6
        blocks, found, used = difference_blocks(wanted, n_triples, n_blocks, order, NODES)
        nodes += used
        if found:
            return a, [[x for x in block if x >= 0] for block in blocks.tolist()]
    return None


def wanted_differences(
    m: int, rng: np.random.Generator
) -> tuple[int, int, NDArray[np.int64], int | None]:
    """Return n, the number of triples, how often differences are wanted, and the middle label."""
    residue = m % 12
    n, n_triples, a = m, 0, None
    if residue in (3, 9):
        n, n_triples = m - 3, 1
    elif residue in (7, 10):
        n, n_triples = m - HOLE, 7
    wanted = np.ones(n, dtype=np.int64)
    wanted[0] = 0
    if residue in (7, 10):
        wanted[[n // 3, 2 * (n // 3)]] = 0
    if residue in (4, 8, 10):
        wanted[[n // 4, n // 2, 3 * (n // 4)]] = 0
    if residue in (3, 6, 8):
        half = n // 2
        a = int(rng.choice([a for a in range(1, half) if 4 * a not in (n, 3 * n)]))
        wanted[[half, a, n - a, half + a, half - a]] = 0
    if residue == 11:
        twice = int(rng.integers(1, n))
        wanted[[twice, n - twice]] = 2
    return n, n_triples, wanted, a


@njit
def _take(wanted, block, step):
    """Take (−1) or give back (+1) the differences of a block; whether none was taken too often."""
    n = len(wanted)
    enough = True
    for i in range(len(block)):
        for j in range(i):
            d = abs(block[i] - block[j])
            wanted[d] += step
            if 2 * d != n:
                wanted[n - d] += step
            enough &= wanted[d] >= 0
    return enough


@njit
def _companions(wanted, labels, d, triple, out):
    """Write the labels that may join 0 and d in a block; return how many.

    The labels of a triple must differ modulo 3, so that its translates by multiples of 3 are
    disjoint.
    """
    n = len(wanted)
    count = 0
    for x in labels:
        if triple and (x % 3 == 0 or (x - d) % 3 == 0):
            continue
        if x != d and wanted[x - d if x > d else x - d + n] > 0:
            out[count] = x
            count += 1
    return count


@njit
def _open_block(wanted, order, block, companions):
    """Start a block with the wanted difference that fewest labels can join; return how many."""
    n = len(wanted)
    triple = len(block) == 3
    labels = order[wanted[order] > 0]
    fewest, best = n, 0
    for d in labels:
        if 2 * d <= n and not (triple and d % 3 == 0):
            count = _companions(wanted, labels, d, triple, companions)
            if count < fewest:
                fewest, best = count, d
    block[0], block[1] = 0, best
    if fewest == n:
        return 0
    return _companions(wanted, labels, best, triple, companions)


@njit
def _next_block(wanted, block, companions, cursor):
    """Step to the next block whose differences are all wanted and take them; whether there is one.

    `cursor` holds the places of the next two companions to try.
    """
    while cursor[0] < len(companions):
        x = companions[cursor[0]]
        block[2] = x
        if len(block) == 3:
            cursor[0] += 1
            if _take(wanted, block, -1):
                return True
            _take(wanted, block, 1)
            continue
        while cursor[1] < cursor[0]:
            y = companions[cursor[1]]
            cursor[1] += 1
            if wanted[abs(x - y)] > 0:
                block[3] = y
                if _take(wanted, block, -1):
                    return True
                _take(wanted, block, 1)
        cursor[0] += 1
        cursor[1] = 0
    return False


@njit
def difference_blocks(wanted, n_triples, n_blocks, order, most_nodes):
    """Search depth first for blocks that have each difference modulo n as often as wanted.

    Parameters
    ----------
    wanted : array of n integers
        How often each difference is wanted; that of d and n − d is the same.
    n_triples, n_blocks : int
        Blocks of three labels, which come first, and blocks in all; the others have four.
    order : array of integers
        The order in which differences and labels 1 … n − 1 are tried.
    most_nodes : int
        When to give up.

    Returns
    -------
    blocks, found, nodes
        Blocks as an ``(n_blocks, 4)`` array that holds −1 in the last place of a triple, whether
        they are complete, and the nodes looked at.
    """
    n = len(wanted)
    wanted = wanted.copy()
    blocks = np.full((n_blocks, 4), -1, dtype=np.int64)
    companions = np.empty((n_blocks, n), dtype=np.int64)
    n_companions = np.zeros(n_blocks, dtype=np.int64)
    cursors = np.zeros((n_blocks, 2), dtype=np.int64)
    nodes = 0
    level = 0
    opening = True
    while 0 <= level < n_blocks and nodes < most_nodes:
        block = blocks[level, : 3 if level < n_triples else 4]
        if opening:
            nodes += 1
            n_companions[level] = _open_block(wanted, order, block, companions[level])
            cursors[level] = 0
        else:
            _take(wanted, block, 1)
        some = companions[level, : n_companions[level]]
        opening = _next_block(wanted, block, some, cursors[level])
        level += 1 if opening else -1
    return blocks, level == n_blocks, nodes


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, nargs="+", default=range(LEAST_LABELS, MOST_LABELS + 1))
    wanted = [m for m in parser.parse_args().only if has_family(m)]
    known = {m: line for line in PATH.read_text().splitlines() for m in json.loads(line)[:1]}
    for m in wanted:
        found = family(m)
        if found is not None:
            known[m] = json.dumps([m, *found], separators=(",", ":"))
    with replacing(PATH) as temporary:
        temporary.write_text("".join(known[m] + "\n" for m in sorted(known)), encoding="utf-8")
    print(f"{len(wanted)} looked for, {len(known)} in {PATH.name}")


if __name__ == "__main__":
    main()
