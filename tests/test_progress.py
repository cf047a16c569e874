"""Progress bars on a terminal, and what they say while numba compiles."""

import io
import sys
import threading

import numba
import pytest

from labelcover import _progress
from labelcover._progress import progress_bar, tell, telling_of_compilation


class Terminal(io.StringIO):
    """Standard error of somebody who looks at it."""

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Call it to look at standard error; pytest puts its own there after the fixtures."""

    def look(screen=None):
        screen = Terminal() if screen is None else screen
        monkeypatch.setattr(sys, "stderr", screen)
        return screen

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(_progress._Delayed, "DELAY", 0.0)
    return look


@pytest.fixture
def texts(monkeypatch):
    """Every text that a bar was given, and an event that is set when the bar is there."""
    given = []
    there = threading.Event()

    class Bar:
        def add_task(self, text, total):
            given.append(text)

        def update(self, task, completed, description):
            given.append(description)

        def start(self):
            there.set()

        def stop(self):
            given.append("stopped")

    monkeypatch.setattr(_progress, "_rich_bar", lambda total: Bar())
    return given, there


def freshly_compiled():
    """A function that no cache holds."""
    return numba.njit(lambda x: x + 1)


def test_a_bar_appears_on_a_terminal_even_without_news(terminal, texts):
    terminal()
    with progress_bar("working", 3):
        assert texts[1].wait(10)
    assert texts[0] == ["working", "working", "stopped"]


def test_the_bar_is_drawn_on_standard_error(terminal):
    screen = terminal()
    with progress_bar("working", 3) as bar:
        bar.timer.join(10)
        bar.advance()
    assert "working" in screen.getvalue()


def test_what_is_told_is_printed_where_there_is_no_terminal(capsys):
    tell("96 labelsets", show=True)
    tell("nothing", show=False)
    assert capsys.readouterr().err == "96 labelsets\n"


def test_compilation_is_told_once_and_only_where_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(_progress, "_told_of_compilation", threading.Event())
    with telling_of_compilation(show=False):
        freshly_compiled()(1)
    assert capsys.readouterr().err == ""
    for _ in range(2):
        with telling_of_compilation():
            freshly_compiled()(1)
    assert capsys.readouterr().err == f"{_progress.COMPILING_ONCE}\n"
    with telling_of_compilation():
        pass
    assert capsys.readouterr().err == ""


def test_quick_work_leaves_no_trace(terminal, monkeypatch):
    screen = terminal()
    monkeypatch.setattr(_progress._Delayed, "DELAY", 60.0)
    with progress_bar("working", 3) as bar:
        bar.advance()
    assert screen.getvalue() == ""


@pytest.mark.parametrize("show", [True, False])
def test_a_bar_is_silent_when_not_asked_for_or_not_on_a_terminal(show, terminal, texts):
    screen = terminal(io.StringIO() if show else None)
    with progress_bar("working", show=show) as bar:
        bar.advance()
        bar.describe("still working")
    assert screen.getvalue() == ""
    assert texts[0] == []


def test_the_bar_says_when_numba_compiles_and_what_it_does_afterwards(terminal, texts):
    terminal()
    given, there = texts
    function = freshly_compiled()
    with progress_bar("working") as bar:
        assert there.wait(10)
        bar.advance()
        assert "compiling, first use" not in given
        function(1)
        assert given[-1] == "working"
        assert given.count("compiling, first use") >= 1
        before = len(given)
        function(2)  # compiled already
        assert len(given) == before
    freshly_compiled()(1)
    assert given[-1] == "stopped"


def test_a_numba_without_events_still_works(terminal, texts, monkeypatch):
    terminal()
    monkeypatch.setitem(sys.modules, "numba.core.event", None)
    monkeypatch.delattr("numba.core.event")
    with progress_bar("working"):
        assert texts[1].wait(10)
        assert freshly_compiled()(1) == 2
    assert set(texts[0]) == {"working", "stopped"}
