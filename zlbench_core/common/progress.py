"""Progress of long reading in a terminal, where rich is installed; silent everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any


def track(items: Iterable[Any], text: str) -> Iterable[Any]:
    """The items, with a bar on stderr while stdout and stderr are a terminal. Jobs never call this: their
    output is a log."""
    items = items if isinstance(items, Sequence) else list(items)
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return items
    try:
        from rich.console import Console
        from rich.progress import track as bar
    except ImportError:
        return items
    return bar(items, text, console=Console(stderr=True), transient=True)
