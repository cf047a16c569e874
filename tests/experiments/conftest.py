"""A real browser for the pages.

It is Debian's Chromium (or Chrome) on this machine, or the one that ``LABELCOVER_BROWSER`` names.
Without one the tests that need it are skipped; where ``LABELCOVER_NEEDS_BROWSER`` is set, as in CI,
its absence is an error.
"""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Text that is cut off or sticks out of its box, unless its box can be scrolled.
OVERFLOWING = """() => {
  const found = [];
  const page = document.documentElement;
  if (page.scrollWidth > window.innerWidth) found.push(`page ${page.scrollWidth}`);
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".scroll, .unseen")) continue;
    const box = element.getBoundingClientRect();
    if (box.width && (box.right > window.innerWidth + 1 || box.left < -1))
      found.push(`${element.tagName} ${element.textContent.trim().slice(0, 40)}`);
  }
  for (const text of document.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect();
    const frame = text.closest("svg").getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1
        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      found.push(`svg text ${text.textContent}`);
  }
  return found;
}"""


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("LABELCOVER_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )
    if path is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("LABELCOVER_NEEDS_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def overflowing():
    """The script that finds text that is cut off or sticks out of its box."""
    return OVERFLOWING
