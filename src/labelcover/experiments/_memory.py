"""The most memory that this process holds during some work."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Start counting anew, where the system can (Linux); elsewhere the count goes on."""
    with suppress(OSError):
        RESET.write_text("5")


def peak_mb() -> float | None:
    """Return the peak resident memory since `reset_peak` in MB (10⁶ bytes), if it can be known."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None
