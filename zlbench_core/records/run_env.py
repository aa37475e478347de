"""The environment variables by which the runner tells a benchmark process, and its plugins, what to do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

BACKEND = "ZL_BACKEND"
TARGET = "ZL_TARGET"
OUT_DIR = "ZL_OUT_DIR"
DEVICE = "ZL_DEVICE"
DEVICE_UUID = "ZL_DEVICE_UUID"
AUTOTUNE_MODE = "ZL_AUTOTUNE_MODE"
REPLAY_FROM = "REPLAY_FROM"
SHARD = "ZL_SHARD"
SHARD_CLAIMS = "ZL_SHARD_CLAIMS"
TIMER = "ZL_TIMER"
DIRECT_REPEAT = "ZL_DIRECT_REPEAT"
MEASURE = "ZL_MEASURE"
DECLARED = "ZL_DECLARED"  # names of variables that the sides differ in, comma separated
COMPILE_THREADS = "ZL_COMPILE_THREADS"
COMPILE_POOL = "ZL_COMPILE_POOL"
COMPILE_PREFETCH = "ZL_COMPILE_PREFETCH"
EARLY_DROP = "ZL_TUNE_EARLY_DROP"
EXTRA_PLUGINS = "ZL_EXTRA_PLUGINS"
DUET_SOCKET = "ZL_DUET_SOCKET"
DUET_SIDE = "ZL_DUET_SIDE"

AUTOTUNE_MODES = ("off", "record", "replay")
TIMERS = ("auto", "capture", "direct")


@dataclass(frozen=True)
class RunEnv:
    """What a benchmark process was asked for. Fields that a bare pytest run does not set have its defaults."""

    backend: str
    target: str | None
    out_dir: Path | None
    autotune_mode: str
    replay_from: Path | None
    shard: tuple[int, int]
    claims: Path | None  # the folder in which the shards of one record claim items
    timer: str
    measure: bool

    @classmethod
    def read(cls, environ: Mapping[str, str] = os.environ) -> RunEnv:
        index, _, count = environ.get(SHARD, "0/1").partition("/")
        out_dir, replay_from = environ.get(OUT_DIR), environ.get(REPLAY_FROM)
        claims = environ.get(SHARD_CLAIMS)
        return cls(
            backend=environ.get(BACKEND, ""),
            target=environ.get(TARGET) or None,
            out_dir=Path(out_dir) if out_dir else None,
            autotune_mode=environ.get(AUTOTUNE_MODE) or ("replay" if replay_from else "off"),
            replay_from=Path(replay_from) if replay_from else None,
            shard=(int(index), int(count)),
            claims=Path(claims) if claims else None,
            timer=environ.get(TIMER, "auto"),
            measure=environ.get(MEASURE, "1") != "0",
        )
