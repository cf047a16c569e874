"""The words of `words.json`: what cells, dates, units, tags and measures are called by people."""

import json
from pathlib import Path
from typing import Any

WORDS: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
