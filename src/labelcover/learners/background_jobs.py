"""Jobs that threads do beside the caller, who joins them in the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Condition
from typing import Any

from labelcover._progress import Progress


@dataclass
class _Round:
    """Jobs that may be done at the same time.

    Those not begun, with their numbers; what the others returned; how many have not ended.
    """

    waiting: list[tuple[int, Callable[[], Any]]]
    results: list[Any]
    n_left: int


class BackgroundJobs:
    """Rounds of jobs; a round begins when all jobs of the one before have ended.

    Jobs should spend their time without Python's lock, in compiled loops. The thread of the caller
    is one of those that were asked for, so one fewer is started, and none for one.

    Parameters
    ----------
    n_threads : int
    """

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._rounds: deque[_Round] = deque()
        self._changed = Condition()
        self._threads = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None
        self._started: list[Future[None]] = []
        self._has_stopped = False

    def add(self, jobs: Sequence[Callable[[], Any]]) -> list[Any]:
        """Add a round of jobs; return the list that holds what they return once all have ended."""
        results: list[Any] = [None] * len(jobs)
        with self._changed:
            if self._has_stopped or not jobs:
                return results
            waiting = list(enumerate(jobs))[::-1]
            self._rounds.append(_Round(waiting, results, len(jobs)))
        if self._threads is not None:
            n_threads = min(self.n_threads - 1, len(jobs))
            self._started += [self._threads.submit(self._work) for _ in range(n_threads)]
        return results

    def finish(self, bar: Progress | None = None) -> None:
        """Join in until all jobs have ended; raise what one of them has raised."""
        try:
            self._work(bar)
            with self._changed:
                self._changed.wait_for(lambda: not self._rounds)
        finally:
            self.stop()
        for thread in self._started:
            thread.result()

    def stop(self) -> None:
        """Begin no further job, and wait for those that have begun."""
        self._begin_no_more()
        if self._threads is not None:
            self._threads.shutdown()

    def _begin_no_more(self) -> None:
        with self._changed:
            self._has_stopped = True
            self._rounds.clear()
            self._changed.notify_all()

    def _work(self, bar: Progress | None = None) -> None:
        while (taken := self._next()) is not None:
            own, number, job = taken
            try:
                own.results[number] = job()
            except BaseException:
                self._begin_no_more()
                raise
            with self._changed:
                own.n_left -= 1
                if not own.n_left and self._rounds and self._rounds[0] is own:
                    self._rounds.popleft()
                    self._changed.notify_all()
            if bar is not None:
                bar.advance()

    def _next(self) -> tuple[_Round, int, Callable[[], Any]] | None:
        """Return the next job with its round and number, waiting for one; None if none is left."""
        with self._changed:
            while self._rounds:
                now = self._rounds[0]
                if now.waiting:
                    return now, *now.waiting.pop()
                if len(self._rounds) == 1:
                    break
                self._changed.wait()
            return None
