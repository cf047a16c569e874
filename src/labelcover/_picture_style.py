"""The look of all pictures: those of pages, and those that commands write to files."""

from typing import Any

# The light colours of the pages (experiments/_report/style.css).
INK, FAINT, ACCENT, SECOND, PAPER = "#1d2430", "#d9dbe0", "#2f6f9f", "#b9652f", "#ffffff"


def picture_style(ink: str = INK, faint: str = FAINT, paper: str = PAPER) -> dict[Any, Any]:
    """Return matplotlib's settings for a picture with these colours of text, lines and ground."""
    return {
        "text.parse_math": False,  # a name may hold dollar signs
        "font.size": 9,
        "text.color": ink,
        "axes.edgecolor": faint,
        "axes.labelcolor": ink,
        "axes.titlesize": 10,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": faint,
        "grid.linewidth": 0.6,
        "xtick.color": ink,
        "ytick.color": ink,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
        "xtick.minor.size": 0,
        "figure.facecolor": paper,
        "savefig.dpi": 150,
        "legend.frameon": False,
    }
