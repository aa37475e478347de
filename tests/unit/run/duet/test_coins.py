from __future__ import annotations

import hashlib
import json

from zlbench_core.run.duet.coins import Coins


def test_a_coin_is_the_bit_that_the_documentation_says() -> None:
    text = json.dumps(["zlbench duet", 1, "mm", 3, "superblock", "key", 0, 5])
    heads = hashlib.sha256(text.encode()).digest()[-1] & 1
    assert Coins(1, "mm", 3).order("key", 0, 5) == ("ABBA", "BAAB")[heads]


def test_coins_that_were_logged_once_fall_the_same_for_ever() -> None:
    one = Coins(1, "mm", 1)
    orders = "".join(one.order("row", 0, number)[0] for number in range(8))
    assert orders == "BBBBAABA"
    assert "".join(Coins(1, "mm", number).first_side() for number in range(1, 9)) == "abababba"


def test_every_part_of_the_name_of_a_coin_matters_and_each_kind_is_fair() -> None:
    def tosses(coins: Coins, key: str = "row", occurrence: int = 0, **how: bool) -> list[str]:
        return [coins.order(key, occurrence, number, **how) for number in range(64)]

    runs = [
        tosses(Coins(1, "mm", 1)),
        tosses(Coins(2, "mm", 1)),
        tosses(Coins(1, "add", 1)),
        tosses(Coins(1, "mm", 2)),
        tosses(Coins(1, "mm", 1), key="other"),
        tosses(Coins(1, "mm", 1), occurrence=1),
        tosses(Coins(1, "mm", 1), warm_up=True),
    ]
    assert len({tuple(run) for run in runs}) == len(runs)
    # 2,000 fair coins lie outside 1000 +- 112 less than once in a million.
    orders = [Coins(seed, "mm", 1).order("row", 0, 0) for seed in range(2000)]
    firsts = [Coins(1, "mm", number).first_side() for number in range(1, 4000, 2)]
    assert 888 < orders.count("ABBA") < 1112
    assert 888 < firsts.count("a") < 1112


def test_of_two_rounds_each_side_is_first_in_one() -> None:
    for op in ("mm", "softmax", "gelu", "rms_norm"):
        firsts = [Coins(1, op, number).first_side() for number in range(1, 13)]
        assert [sorted(firsts[pair : pair + 2]) for pair in range(0, 12, 2)] == [["a", "b"]] * 6
