"""The verdict table of a finished campaign as a picture: python benchmarks/verdict_picture.py RESULTS FILE.svg

The README's is that of the default campaign. The same results make the same file to the last byte.
"""

from __future__ import annotations

import io
import re
import sys
from itertools import takewhile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from zlbench_core.judge.show import show_campaign
from zlbench_core.verdicts.words import WORDS

WIDTH = 100
STYLES = {"faster": "bold green", "slower": "bold red"}  # by colour of a verdict word
PATHS = ("report:", "tables:")  # of the machine that the campaign ran on
# A picture in a page may load nothing: the browser's own monospaced font is used.
WEB_FONT = re.compile(r"\s*@font-face \{[^}]*\}")


def picture(folder: Path, title: str) -> str:
    """An SVG of what `zlbench show` prints of `folder`. Raises ReadError where there is no summary."""
    shown = show_campaign(folder, WIDTH).strip().splitlines()
    text = Text("\n".join(takewhile(lambda line: not line.startswith(PATHS), shown)).rstrip() + "\n")
    for colour, style in STYLES.items():
        text.highlight_words([verdict for verdict, word in WORDS.items() if word.colour == colour], style)
    console = Console(
        file=io.StringIO(),
        record=True,
        width=WIDTH,
        color_system="truecolor",
        _environ={},
        legacy_windows=False,
    )
    console.print(text, soft_wrap=True)
    return WEB_FONT.sub("", console.export_svg(title=title, unique_id="zlbench"))


if __name__ == "__main__":
    results, file = map(Path, sys.argv[1:])
    file.write_text(picture(results, "zlbench show"), encoding="utf-8")
