"""The scripts inside the page: Vega and Vega-Lite as Snakemake brings them, and the page's own few lines.

Snakemake ships the two for its own reports (BSD-3-Clause), so the page needs no further package and no network.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from zlbench_core.errors import ReadError

_LIBRARIES = ("vega/vega.js", "vega-lite/vega-lite.js")


@cache
def scripts() -> tuple[str, ...]:
    """The texts of the page's script elements, in order. Raises ReadError where Snakemake's copy is missing."""
    data = resources.files("snakemake.assets") / "data"
    try:
        libraries = [(data / name).read_text(encoding="utf-8") for name in _LIBRARIES]
    except OSError as error:
        raise ReadError(
            f"no plots: {error}; Snakemake's own copy of Vega is expected, reinstall it"
        ) from None
    own = (resources.files(__package__) / "template" / "report.js").read_text(encoding="utf-8")
    return tuple(_inline(text) for text in (*libraries, own))


def _inline(text: str) -> str:
    """Nothing in a script may end its element; inside JavaScript's strings `<\\/` is `</`."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def content_policy() -> str:
    """The page's Content-Security-Policy: no request at all, and no script but these (their digests).

    Vega builds functions from its specifications, which are ours, hence unsafe-eval.
    """
    allowed = " ".join(f"'sha256-{_digest(text)}'" for text in scripts())
    return (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
