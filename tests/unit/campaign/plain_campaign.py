"""An A/B of three operators and one variable that says nothing of how it is timed: what tests change a key of."""

from __future__ import annotations

PLAIN = {
    "backend": "cpu",
    "target": "cuda:90",
    "provider": "builtin",
    "ops": ["mm", "softmax", "layer_norm"],
    "dtypes": ["float32"],
    "rounds": 6,
    "devices": [0],
    "sides": {"a": {"env": {}}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}},
}
