from __future__ import annotations

import pytest

from zlbench_core.backends.cpu_driver import DEFAULT_TARGET, parse_target
from zlbench_core.backends.cpu_target import CHIPS, device_properties
from zlbench_core.errors import ConfigError


def test_targets_become_what_triton_compiles_for() -> None:
    cuda, hip = parse_target("cuda:90"), parse_target("hip:gfx942")
    assert (cuda.backend, cuda.arch, cuda.warp_size) == ("cuda", 90, 32)
    assert (hip.backend, hip.arch, hip.warp_size) == ("hip", "gfx942", 64)
    assert parse_target("hip:gfx1100").warp_size == 32
    assert DEFAULT_TARGET == "cuda:90"


@pytest.mark.parametrize("text", ["", "cuda", "cuda:", "cuda:9x", "90", "musa:31", "hip:gfx000", "cuda:90 "])
def test_bad_target_is_refused_in_one_line_that_names_the_known_ones(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_target(text)
    message = str(caught.value)
    assert repr(text) in message
    assert all(known in message for known in CHIPS)
    assert "\n" not in message


def test_properties_are_those_of_the_target() -> None:
    assert device_properties("cuda:90")["max_shared_mem"] == 232448
    assert device_properties("hip:gfx942") == {
        "max_shared_mem": 65536,
        "max_num_regs": 65536,
        "multiprocessor_count": 304,
        "warpSize": 64,
    }
