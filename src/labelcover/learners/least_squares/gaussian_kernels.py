"""Compiled loops of the Gaussian kernel."""

from __future__ import annotations

from numba import njit

from labelcover.learners.least_squares.exponential_kernels import exponential


@njit(cache=True, nogil=True, fastmath={"contract"})
def gaussians_of_products(products, squares, other_squares, gammas):
    """Turn inner products in place into the mean over `gammas` of ``exp(-gamma |x - z|²)``.

    `squares` and `other_squares` are the squared lengths of the rows that the products are of.
    """
    share = 1.0 / len(gammas)
    # A Gaussian of half the width is the fourth power: one exponential serves all.
    are_powers = True
    for g in range(1, len(gammas)):
        are_powers &= gammas[g - 1] == 4.0 * gammas[g]
    least = gammas[-1]
    for i in range(products.shape[0]):
        row = products[i]
        for j in range(len(row)):
            # Rounding may leave less than nothing between rows that are alike.
            row[j] = max(squares[i] + other_squares[j] - 2.0 * row[j], 0.0)
        if are_powers:
            for j in range(len(row)):
                power = exponential(-least * row[j])
                total = power
                for _ in range(1, len(gammas)):
                    power *= power
                    power *= power
                    total += power
                row[j] = share * total
        else:
            for j in range(len(row)):
                total = 0.0
                for g in range(len(gammas)):
                    total += exponential(-gammas[g] * row[j])
                row[j] = share * total
