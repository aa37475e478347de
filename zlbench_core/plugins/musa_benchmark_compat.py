"""pytest plugin: lift FlagGems' skip guards that ask for torch.cuda where the code runs on flag_gems.device.

Each override is pinned to one file and one exact reason, and acts only where FlagGems' vendor is mthreads.
Nine tests in five files share the reason "CUDA is not available", so the reason alone would lift too much.

Read at FlagGems ed2508bcb (2026-08-21). Guards that name torch.cuda or "cuda" and are left in place:
- test_flash_attention_forward.py, test_flash_attention_backward.py (5 tests),
  test_cudnn_attention_forward.py: the baseline is aten's flash, efficient or cuDNN attention, which torch has
  for CUDA alone;
- test_embedding_dense_backward.py, test_scaled_dot_product_cudnn_attention.py,
  test_fused_indexer_q_rope_quant.py, test_FLA/test_chunk_gated_delta_rule_perf.py: they exclude other devices
  on purpose (flag_gems.device != "cuda");
- test_apply_repetition_penalties.py, test_indexer_k_quant_and_cache.py,
  test_cp_gather_indexer_k_quant_cache.py, test_deepseek_v4_attention_*.py (4),
  test_stage_deepseek_v4_mega_moe_inputs.py: the baseline is one of vLLM's CUDA operators, or the test names
  mthreads as unsupported;
- test_fp8_*.py (5), test_scaled_mm.py, test_fused_moe_*.py, test_fused_marlin_moe_*.py, test_pack_seq.py and
  their like: they ask for a compute capability of NVIDIA's;
- test_top_k_per_row_prefill.py: portable to read, but nobody has tried its kernel on an S5000.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

VENDOR = "mthreads"
LIFTED = "MUSA_COMPAT_LIFTED"
STALE = "MUSA_COMPAT_STALE"


@dataclass(frozen=True)
class Pin:
    """A guard that may be lifted: the file, the reason to the letter, and why lifting it is right."""

    file: str
    reason: str
    because: str


PINS = (
    Pin("test_fft.py", "CUDA is not available", "uses self.device only; 25 rows on an S5000"),
    Pin(
        "test_scaled_dot_product_attention_math.py",
        "CUDA is not available",
        "uses the device that it is given only; its baseline is composed of plain operators",
    ),
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if getattr(sys.modules.get("flag_gems"), "vendor_name", None) != VENDOR:
        return
    for line in lift(items, PINS):
        print(line)


def lift(items: Iterable[pytest.Item], pins: Sequence[Pin]) -> list[str]:
    """Remove the pinned guards; returns a line for each test that lost one and each pin that is stale."""
    items = list(items)
    lines = []
    for pin in pins:
        own = [item for item in items if item.path.name == pin.file]
        lifted = [item for item in own if _remove(item, pin)]
        lines += [f"{LIFTED} {item.nodeid}: {pin.reason!r} ({pin.because})" for item in lifted]
        if not lifted and _is_stale(pin, own, items):
            lines.append(
                f"{STALE} {pin.file}: no skip guard with the reason {pin.reason!r} is there any more"
            )
    return lines


def _remove(item: pytest.Item, pin: Pin) -> bool:
    """Take the pinned guard off a test and off the module, class or package that it was written on."""
    found = False
    for node in item.listchain():
        kept = [mark for mark in node.own_markers if not _is_guard(mark, pin)]
        found = found or len(kept) < len(node.own_markers)
        node.own_markers[:] = kept
    return found


def _is_guard(mark: pytest.Mark, pin: Pin) -> bool:
    return mark.name == "skipif" and mark.kwargs.get("reason") == pin.reason


def _is_stale(pin: Pin, own: Sequence[pytest.Item], items: Sequence[pytest.Item]) -> bool:
    """Whether the pin points at nothing: its file has lost the reason, or is gone from the folder.

    A file that merely was not asked for says nothing.
    """
    if own:
        text = own[0].path.read_text(encoding="utf-8", errors="replace")
        return not any(f"{quote}{pin.reason}{quote}" in text for quote in "'\"")
    folders = {item.path.parent for item in items if item.path.parent.name == "benchmark"}
    return any(not Path(folder, pin.file).exists() for folder in folders)
