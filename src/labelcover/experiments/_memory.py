"""Peak memory of this process."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def reset_peak() -> None:
    """Reset the peak, where the system supports it (Linux)."""
    with suppress(OSError):
        RESET.write_text("5")


def peak_mb() -> float | None:
    """Return the peak resident memory since `reset_peak` in MB (10⁶ bytes), if known."""
    with suppress(OSError):
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    return None
