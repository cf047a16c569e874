"""Compiled search for base blocks whose differences are given: quadruples and triples modulo n."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
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
