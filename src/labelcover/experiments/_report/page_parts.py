"""What all pages share: one self-contained file, and pictures in the colours of the page.

The file is written from a template, with style and scripts in it; pictures are matplotlib figures.
"""

from __future__ import annotations

import html
import io
import os
import platform
import re
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.isotonic import isotonic_regression

from labelcover._files import replacing
from labelcover._imports import naming_extra
from labelcover._picture_style import picture_style
from labelcover.dependence import clustered_order, phi
from labelcover.experiments._statistics import groups, measure_of

with naming_extra():
    import jinja2
    from markupsafe import Markup
    from matplotlib import rc_context
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array
    from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

    from labelcover.covers import Cover
    from labelcover.experiments._statistics import Ranking

HERE = Path(__file__).parent
PACKAGES = ("labelcover", "numpy", "scipy", "scikit-learn", "numba")
# Colours that stand for those of the page: they are replaced by its CSS variables, so that a
# picture follows the light or dark theme.
NAMES = ("ink", "line", "accent", "card", "second")
VARIABLES = {f"#00000{i}": f"var(--{name})" for i, name in enumerate(NAMES, 1)}
INK, FAINT, ACCENT, PAPER, SECOND = VARIABLES
STYLE = {**picture_style(INK, FAINT, "none"), "svg.fonttype": "none"}
# Inches; a picture of this width is so many rem wide on the page, where there is room.
WIDTH, PAGE_WIDTH = 4.6, 36.0
# Pictures of few names are narrower, so that their letters can be read on a phone.
NARROW = 3.6
# The least width of pictures with many names, in rem: narrower pages scroll them.
LEAST_WIDTH = 26.0
# Names are small enough for that from so many on.
MANY_NAMES = 16
# Inches of a row of names, of the widest column, and of what is around them.
ROW, WIDEST_COLUMN, AROUND = 0.155, 0.3, 0.7
# Between a square and the next, half of it on either side, in squares.
GAP = 0.08
MOST_LABELS, MOST_LABELSETS = 40, 150
# A longer name loses its middle: beside a picture there is no room for all of it.
LONGEST_NAME = 24


def write_page(path: str | os.PathLike[str], template: str, values: Mapping[str, Any]) -> None:
    """Write a template of this folder with its values as one file, replaced as a whole.

    A page extends ``base.html``, and says which ``scripts`` of this folder it needs: one without
    does not allow any.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=jinja2.select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    # Those that matter for the numbers.
    versions = {"Python": platform.python_version()} | {name: version(name) for name in PACKAGES}
    text = environment.get_template(template).render(values, versions=versions)
    with replacing(path) as temporary:
        # A file name need not be UTF-8, and a page that shows it is.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def to_svg(figure: Figure, name: str, title: str, description: str) -> Markup:
    """Return a figure as an SVG element with a title and a description for screen readers.

    One with many names is in a box that scrolls where the page is narrow.

    Parameters
    ----------
    figure : Figure
        Drawn in the colours above.
    name : str
        A word, different for each picture of a page.
    title, description : str
        The text alternative.
    """
    buffer = io.StringIO()
    styled: Any = {"svg.fonttype": "none", "svg.hashsalt": name, "text.parse_math": False}
    with rc_context(styled), warnings.catch_warnings():
        # The browser draws the letters, and may have those that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, variable)
    head, _, body = svg.partition(">")
    head = re.sub(r' (width|height|xmlns[^=]*|version)="[^"]*"', "", head)
    # Letters are of one size in all pictures of a page, however wide these are.
    width = PAGE_WIDTH * figure.get_figwidth() / WIDTH
    many = any(len(axes.get_yticklabels()) >= MANY_NAMES for axes in figure.axes)
    least = f"; min-width: {min(width, LEAST_WIDTH):.1f}rem" if many else ""
    label = f' role="img" aria-labelledby="{name}-title {name}-text"'
    label += f' style="max-width: {width:.1f}rem{least}"'
    inside = (
        f'<title id="{name}-title">{html.escape(title, quote=False)}</title>'
        f'<desc id="{name}-text">{html.escape(description, quote=False)}</desc>'
    )
    svg = f"{head}{label}>{inside}{body}"
    if not many:
        return Markup(svg)
    region = f'tabindex="0" role="region" aria-labelledby="{name}-title"'
    return Markup(f'<div class="scroll" {region}>{svg}</div>')


@rc_context(STYLE)
def critical_difference_diagram(ranking: Ranking) -> Figure:
    """Draw mean ranks, best on top; a bar joins methods that do not differ (Demšar, 2006)."""
    k = len(ranking.methods)
    axes = _axes(NARROW, 1.0 + 0.27 * k)
    rows = np.arange(k)
    axes.scatter(ranking.ranks, rows, s=42, color=ACCENT, zorder=3)
    for row, rank in zip(rows, ranking.ranks, strict=True):
        beside: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points"}
        axes.annotate(f"{rank:.2f}", (rank, row), va="center", fontsize=8, **beside)
    axes.hlines(rows, 0.9, ranking.ranks, color=FAINT, linewidth=1.2)
    place = k + max(0.75, 0.14 * k)
    for bar in groups(ranking.ranks, ranking.difference):
        ends = [min(bar) - 0.25, max(bar) + 0.25]
        axes.plot([place, place], ends, color=SECOND, linewidth=4, solid_capstyle="round")
        place += 0.045 * k
    axes.plot([1, 1 + ranking.difference], [-1, -1], color=SECOND, linewidth=2)
    axes.text(1, -1.3, f"critical difference {ranking.difference:.2f}", va="bottom")
    axes.set_yticks(rows, [shortened(name) for name in ranking.methods])
    axes.set_xticks(np.arange(1, k + 1))
    axes.set_ylim(k - 0.4, -2.2)
    axes.set_xlim(0.9, max(place, 1 + ranking.difference + 0.1))
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("mean rank")
    return axes.figure


@rc_context(STYLE)
def time_against_quality(lines: pd.DataFrame, measure: str = "micro_f1") -> Figure:
    """Draw training time against a measure, a point per method."""
    axes = _axes(NARROW, 2.9)
    x = np.maximum(lines["mean_fit_seconds"].to_numpy(), 1e-4)
    y = lines[f"mean_{measure}"].to_numpy()
    spread = lines[f"sd_{measure}"].fillna(0).to_numpy()
    axes.errorbar(x, y, yerr=spread, fmt="none", ecolor=FAINT, elinewidth=1.5, zorder=1)
    axes.scatter(x, y, s=42, color=ACCENT, zorder=3)
    axes.set_xscale("log")
    low, high = float((y - spread).min()), float((y + spread).max())
    margin = max(0.04, 0.12 * (high - low))
    axes.set_ylim(low - margin, high + margin)
    # Names stand in a column on the right, in the order of the points, and lines lead to them.
    place = float(x.max() * (x.max() / x.min()) ** 0.12 * 1.25)
    names = lines["method"].map(shortened)
    heights = spread_out(np.sort(y), axes.get_ylim(), 0.075)
    for j, at in zip(np.argsort(y), heights, strict=True):
        axes.plot([x[j], place], [y[j], at], color=FAINT, linewidth=0.8, zorder=0)
        axes.text(place * 1.03, at, names.iloc[j], va="center")
    left = x.min() / 1.25
    room = min(0.6, 0.04 + 0.028 * names.str.len().max())  # of the width
    axes.set_xlim(left, left * (place * 1.03 / left) ** (1 / (1 - room)))
    axes.set_xlabel("time to train on one fold, seconds")
    axes.set_ylabel(measure_of(measure).title)
    axes.set_xticks(nice_ticks(x.min(), x.max()))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    return axes.figure


def spread_out(places: np.ndarray, limits: tuple[float, float], gap: float) -> np.ndarray:
    """Return increasing `places`, moved to be at least `gap` of the span apart."""
    low, high = limits
    step = min(gap, 0.98 / max(len(places), 1)) * (high - low)
    # The nearest places that are a step apart: what is left of them then increases.
    steps = step * np.arange(len(places))
    spread = isotonic_regression(places - steps) + steps
    # No higher than the top allows, and no lower than the foot.
    return np.clip(spread, low + step / 2 + steps, high - step / 2 - steps[::-1])


def nice_ticks(low: float, high: float) -> list[float]:
    """Return round numbers for a logarithmic axis from `low` to `high`: two at least."""
    decades = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1)
    inside: list[float] = []
    for factors in ((1.0, 2.0, 5.0), np.arange(1, 10), np.arange(10, 100) / 10):
        every = [float(factor) * 10.0**d for d in decades for factor in factors]
        inside = [tick for tick in every if low * 0.8 <= tick <= high * 1.25]
        if len(inside) > 1:
            break
    if len(inside) <= 6:
        return inside
    tens = [tick for tick in inside if np.isclose(np.log10(tick) % 1, 0)]
    return tens if len(tens) > 1 else inside[:: -(-len(inside) // 5)]


@rc_context(STYLE)
def cover_picture(cover: Cover, label_names: list[str]) -> Figure:
    """Draw which labels each labelset holds: a row per label, a column per labelset."""
    shown = min(len(cover), MOST_LABELSETS)
    rows = most_frequent(cover.label_counts, MOST_LABELS)
    columns, places = np.nonzero(cover.matrix()[:shown, rows])
    names = [shortened(label_names[j]) for j in rows]
    width = min(WIDTH, _names_width(names) + WIDEST_COLUMN * shown)
    axes = _axes(max(width, WIDTH / 2), AROUND + ROW * len(rows))
    _draw_squares(axes, columns, places, ACCENT)
    axes.set_xlim(0, shown)
    axes.set_ylim(len(rows), 0)
    axes.set_yticks(np.arange(len(rows)) + 0.5, names, fontsize=7)
    numbers = np.unique(np.linspace(1, shown, min(shown, 8)).round().astype(int))
    axes.set_xticks(numbers - 0.5, [str(number) for number in numbers], fontsize=7)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("labelset")
    return axes.figure


@rc_context(STYLE)
def dependence_picture(
    Y: np.ndarray, label_names: list[str], effects: np.ndarray | None = None
) -> Figure:
    """Draw the dependence between labels (phi), in an order that groups related labels.

    With `effects`, what setting the label of a column adds to the log-odds of that of a row.
    """
    chosen = most_frequent(np.nansum(Y, axis=0), MOST_LABELS)
    table = phi(Y[:, chosen])
    order = clustered_order(table)
    if effects is not None:
        table = np.tanh(effects.T[np.ix_(chosen, chosen)] / 2)
    table = table[np.ix_(order, order)]
    names = [shortened(label_names[chosen[j]]) for j in order]
    m = len(names)
    rows, columns = np.nonzero(~np.eye(m, dtype=bool))
    values = table[rows, columns]
    hues = [ACCENT if value > 0 else SECOND for value in values]
    side = min(WIDTH, _names_width(names) + max(ROW, WIDEST_COLUMN - 0.01 * m) * m)
    axes = _axes(side, side)
    _draw_squares(axes, columns, rows, to_rgba_array(hues, np.minimum(1.0, np.abs(values) ** 0.7)))
    axes.set_xlim(0, m)
    axes.set_ylim(m, 0)
    axes.set_aspect("equal")
    axes.set_xticks(np.arange(m) + 0.5, names, rotation=90, fontsize=6.5)
    axes.set_yticks(np.arange(m) + 0.5, names, fontsize=6.5)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return axes.figure


def strongest_pairs(Y: np.ndarray, most: int) -> list[tuple[int, int, float]]:
    """Return the pairs of labels that depend on each other the most, each with its phi."""
    table = phi(Y)
    i, j = np.triu_indices(len(table), 1)
    order = np.argsort(-np.abs(table[i, j]), kind="stable")[:most]
    return list(zip(i[order].tolist(), j[order].tolist(), table[i, j][order].tolist(), strict=True))


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name of at most so many characters: the beginning and the end of a longer one.

    Examples
    --------
    >>> from labelcover.experiments._report.page_parts import shortened
    >>> shortened("implemented-in::objective-c++", 16)
    'impleme…tive-c++'
    """
    if len(name) <= most:
        return name
    start = (most - 1) // 2
    return f"{name[:start]}…{name[start - most + 1 :]}"


def most_frequent(counts: np.ndarray, most: int) -> np.ndarray:
    """Return the positions of the `most` greatest counts, in their own order."""
    return np.sort(np.argsort(-np.asarray(counts, dtype=float), kind="stable")[:most])


def _names_width(names: list[str]) -> float:
    """Return about how many inches names of 7 points take, with what is around them."""
    return 0.3 + 0.055 * max(map(len, names), default=0)


def _axes(width: float, height: float) -> Any:
    return Figure(figsize=(width, height), layout="constrained").subplots()


def _draw_squares(axes: Any, columns: np.ndarray, rows: np.ndarray, colours: Any) -> None:
    x, y = np.add.outer(columns, [GAP, 1 - GAP]), np.add.outer(rows, [GAP, 1 - GAP])
    corners: Any = np.stack([x[:, [0, 1, 1, 0]], y[:, [0, 0, 1, 1]]], axis=2)
    axes.add_collection(PolyCollection(corners, facecolors=colours, edgecolors="none"))
