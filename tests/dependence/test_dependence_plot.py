"""The picture of the label dependence."""

import numpy as np
import pytest

from labelcover.covers import balancor_cover
from labelcover.dependence import phi, plot_dependence
from labelcover.dependence._dependence_plot import clustered_order


def block_labels(seed=0):
    """Three groups of labels that occur together, interleaved: 0 3 6, 1 4 7, 2 5 8."""
    random = np.random.default_rng(seed)
    groups = random.random((200, 3)) < 0.4
    noise = random.random((200, 9)) < 0.03
    return (np.tile(groups, 3) ^ noise).astype(np.uint8)


def test_labels_that_go_together_stand_side_by_side():
    order = clustered_order(phi(block_labels()))
    assert {frozenset(order[i : i + 3].tolist()) for i in (0, 3, 6)} == {
        frozenset({0, 3, 6}),
        frozenset({1, 4, 7}),
        frozenset({2, 5, 8}),
    }


def test_the_picture_shows_names_and_the_strongest_pairs(tmp_path):
    names = [f"name{j}" for j in range(9)]
    figure = plot_dependence(block_labels(), names, n_pairs=9)
    heat_map, graph = figure.axes[:2]
    assert {text.get_text() for text in heat_map.get_xticklabels()} == set(names)
    assert len(graph.lines) == 9
    assert {text.get_text() for text in graph.texts} == set(names)
    figure.savefig(tmp_path / "dependence.png")
    assert (tmp_path / "dependence.png").stat().st_size > 10_000


def test_dollar_signs_in_names_are_no_mathematics(tmp_path):
    names = [f"a$_{j}$ $\\frac{{$" for j in range(9)]
    plot_dependence(block_labels(), names).savefig(tmp_path / "dependence.svg")
    cover = balancor_cover(9, 3)
    cover.plot(names).savefig(tmp_path / "cover.svg")


@pytest.mark.parametrize(
    "Y", [np.zeros((9, 5)), np.ones((9, 5)), np.ones((1, 1)), np.eye(3, 5)],
    ids=["no label", "all labels", "one label", "few rows"],
)  # fmt: skip
def test_tables_without_dependence_can_be_drawn(Y, tmp_path):
    plot_dependence(Y).savefig(tmp_path / "dependence.png")


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="label_names must hold 9"):
        plot_dependence(block_labels(), ["one"])
    with pytest.raises(ValueError, match="at most 2000 labels"):
        plot_dependence(np.zeros((1, 2001)))
    with pytest.raises(ValueError, match="n_pairs"):
        plot_dependence(block_labels(), n_pairs=0)
