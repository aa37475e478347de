from __future__ import annotations

import json

import pytest

from zlbench_core.results.sizes import MAX_SIZE_CHARS, canonical_size, size_from_log


@pytest.mark.parametrize(
    ("log", "from_json", "size"),
    [
        ("[torch.Size([64, 64])]", [[64, 64]], "[[64, 64]]"),
        ("([torch.Size([64, 64])], {'dim': -1})", [[[64, 64]], {"dim": -1}], '[[[64, 64]], {"dim": -1}]'),
        (
            "{'size': [64, 64], 'dtype': torch.float16, 'device': 'cuda'}",
            {"size": [64, 64], "dtype": "torch.float16", "device": "cuda"},
            '{"size": [64, 64], "dtype": "torch.float16", "device": "cuda"}',
        ),
        (
            "[torch.Size([8]), [8], 1e-05, None, True]",
            [[8], [8], 1e-05, None, True],
            "[[8], [8], 1e-05, null, true]",
        ),
        ("[torch.Size([]), 2.0, -0.5, 1e+16]", [[], 2.0, -0.5, 1e16], "[[], 2.0, -0.5, 1e+16]"),
        ("[(5,), ()]", [[5], []], "[[5], []]"),
        ("[inf, -inf, nan]", [float("inf"), -float("inf"), float("nan")], "[Infinity, -Infinity, NaN]"),
        (
            "[\"it's\", 'say \"x\"', 'a\\nb']",
            ["it's", 'say "x"', "a\nb"],
            '["it\'s", "say \\"x\\"", "a\\nb"]',
        ),
        ("['ij,jk->ik']", ["ij,jk->ik"], '["ij,jk->ik"]'),
        ("[np.float64(0.5)]", [0.5], "[0.5]"),
        ("{}", {}, "{}"),
        ("N/A", None, "N/A"),
    ],
)
def test_the_log_and_the_json_give_one_size(log, from_json, size):
    assert size_from_log(log) == (size, True)
    assert canonical_size(json.loads(json.dumps(from_json))) == size


@pytest.mark.parametrize(
    "text", ["[torch.Size([64, 6", "[1 2]", "a b", "[1]]", "(", "[1,,2]", "<object at 0x7f>", "'"]
)
def test_what_cannot_be_parsed_stays_as_it_is(text):
    assert size_from_log(text) == (text, False)


def test_long_sizes_are_told_apart_by_a_digest():
    first = canonical_size(list(range(2000)))
    second = canonical_size([*range(1999), 0])
    assert len(first) < MAX_SIZE_CHARS
    assert first != second
    assert size_from_log(str(list(range(2000)))) == (first, True)


def test_equal_sizes_of_other_types_keep_texts_of_their_own():
    assert [canonical_size([value]) for value in (1, True, 1.0, 1)] == ["[1]", "[true]", "[1.0]", "[1]"]
