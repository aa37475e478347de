"""Each verdict in plain sentences, for somebody who was not there. docs/verdicts.md gives the rules behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from zlbench_core.campaign.looks import Looks
from zlbench_core.common.plural import count
from zlbench_core.common.text import level, percent
from zlbench_core.judge.hints import spelling_hint
from zlbench_core.judge.show import interval_name
from zlbench_core.report.words import change, interval, probability, ratio
from zlbench_core.verdicts.words import CLAIMS, WORDS, Verdict

Operator = dict[str, Any]
Found = dict[str, Any]
Explainer = Callable[[Operator, Found, dict[str, Any]], Iterator[str]]

_ADJUSTMENT = {"gate": "Holm, no false claim anywhere", "survey": "Benjamini-Hochberg, few false claims"}


_EXPLAIN: dict[str, Explainer] = {}  # by verdict word


def _says(*verdicts: Verdict) -> Callable[[Explainer], Explainer]:
    """That a function explains these words."""

    def keep(function: Explainer) -> Explainer:
        _EXPLAIN.update(dict.fromkeys(verdicts, function))
        return function

    return keep


def explain(operator: Operator, found: Found, gate: dict[str, Any] | None) -> list[str]:
    """Three paragraphs: what the verdict says, what it rests on, what would change it.

    Those of a silent word hold no measured number.
    """
    verdict = operator["verdict"]
    *grounds, change_it = _EXPLAIN[verdict](operator, found, gate or {})
    return [WORDS[verdict].meaning, " ".join(grounds), f"What would change it: {change_it}"]


@_says(*CLAIMS)
def _claim(operator: Operator, found: Found, _: Any) -> Iterator[str]:
    evidence = operator["evidence"]
    faster = operator["verdict"] == Verdict.FASTER
    limit = ratio(1 / (1 + evidence["delta"]) if faster else 1 + evidence["delta"])
    yield from _estimate(evidence, found)
    yield (
        f"That interval lies wholly {'below' if faster else 'above'} {limit}, which is 1 and the margin of "
        f"{percent(evidence['delta'])}."
    )
    yield _chance(operator, found)
    yield from _dissent(operator)
    yield (
        "a larger declared margin, or new rounds that disagree. It holds for this pair of "
        "builds on this device, and says nothing of others."
    )


@_says(Verdict.SAME)
def _same(operator: Operator, found: Found, _: Any) -> Iterator[str]:
    evidence = operator["evidence"]
    yield from _estimate(evidence, found)
    low, high = 1 / (1 + evidence["delta"]), 1 + evidence["delta"]
    yield (
        f"The {_same_level(operator)}interval of the equivalence test, {interval(evidence['ratio_same_ci'])}, lies "
        f"wholly inside the margin of {percent(evidence['delta'])} ({interval((low, high))})."
    )
    if operator["detail"]:
        yield f"Also found: {operator['detail']}. A difference can be real and still too small to matter."
    yield from _dissent(operator)
    yield "a larger difference. More rounds only narrow the interval."


def _same_level(operator: Operator) -> str:
    """The level of two one-sided tests: `90 % ` where each is at 0.05."""
    looks = operator.get("looks")
    if not looks:
        return ""
    return f"{level(1 - 2 * Looks(**looks).same_alpha(operator['evidence']['rounds_run']))} "


@_says(Verdict.UNDECIDED)
def _undecided(operator: Operator, found: Found, _: Any) -> Iterator[str]:
    evidence = operator["evidence"]
    if evidence is None:
        detail = operator["detail"] or "nothing was measured on both sides"
        yield f"{detail[0].upper()}{detail[1:]}."
        yield "rounds that measure both sides, on a device (measure: true)."
        return
    yield from _estimate(evidence, found)
    low, high = 1 / (1 + evidence["delta"]), 1 + evidence["delta"]
    yield (
        f"To be FASTER or SLOWER the interval must lie wholly outside the margin of {percent(evidence['delta'])} "
        f"({interval((low, high))}) with p at most {found['alpha']:g}; to be SAME, wholly inside. It is neither."
    )
    yield _chance(operator, found)
    if operator["detail"]:
        yield f"In short: {operator['detail']}."
    yield from _dissent(operator)
    yield _what_decides(operator)


def _what_decides(operator: Operator) -> str:
    if operator["evidence"]["drift"]:
        return "a quieter machine. The sides drifted apart while they were measured."
    if operator["rounds_needed"]:
        return f"about {count(operator['rounds_needed'], 'round')} of this noise, or less noise."
    return (
        "less noise. No number of rounds is promised: the estimate sits on the margin, or "
        "the rows are too noisy."
    )


@_says(Verdict.NO_CODE_CHANGE)
def _no_code_change(operator: Operator, found: Found, gate: dict[str, Any]) -> Iterator[str]:
    counts = gate.get("counts") or {}
    if counts:
        yield (
            f"{count(counts['compared'], 'kernel variant')} compared at every stage down to the device binary, "
            "locations left aside; none differs."
        )
    if operator["placebo"] is not None:
        yield "It was measured all the same, as a placebo: a check on the method, no finding about the change."
    else:
        yield "One round was run to see the code; times of it would be noise, and none is shown."
    hint = spelling_hint(found)
    advice = f" {hint[0].upper()}{hint[1:]}." if hint else ""
    yield (
        f"a change that reaches these kernels.{advice} The key ir_gate.allow_no_diff measures equal code as a placebo."
    )


@_says(Verdict.REFUSED)
def _refused(operator: Operator, _: Found, __: Any) -> Iterator[str]:
    reasons = operator.get("reasons") or ["?"]
    if all(reason.startswith("status:") for reason in reasons):
        yield "A run failed, so there is nothing to compare; its run.log has the whole error."
        yield "mend what failed and run the same command again; only what is affected runs anew."
        return
    yield (
        "Each reason below names what differed or failed. A number from such sides would look exactly like a "
        "valid one, and mean something else."
    )
    yield (
        "mend what the reasons name and run the same command again; only what is affected "
        "runs anew. The key allow_caliber_mismatch shows the numbers, each of them marked."
    )


@_says(Verdict.VOID)
def _void(operator: Operator, found: Found, _: Any) -> Iterator[str]:
    placebos = found["placebos"]
    yield (
        f"{placebos['claims']} of {placebos['usable']} operators with identical code would have been claimed to "
        f"differ; at most {placebos['allowed']} may. So the measurement, not the code, makes the differences."
    )
    yield "find what disturbs the device, and measure again."


WORTH_TELLING = 0.0005  # of what the interval leaves out


def _estimate(evidence: dict[str, Any], found: Found) -> Iterator[str]:
    rounds = f"{evidence['rounds']} of {count(evidence['rounds_run'], 'round')} that were run"
    yield f"{rounds} count; a round is a fresh process of each side on one device."
    if evidence["ratio"] is None:
        yield "No ratio could be estimated from them."
        return
    told = f"B took {ratio(evidence['ratio'])} times A's latency ({change(evidence['ratio'])})"
    yield f"Over all rows {told}; the {interval_name(found)} is {interval(evidence['ratio_ci'])}."
    first = evidence.get("first_over_second")
    if first is not None and abs(first - 1) >= WORTH_TELLING:
        yield f"The side launched first took {change(first)} than the other; the interval leaves that out."


def _chance(operator: Operator, found: Found) -> str:
    own, adjusted = operator["evidence"]["p"], operator["adjusted_p"]
    text = f"If A and B were the same, rounds that agree this well would turn up with p = {probability(own)}"
    if found["family"] > 1 and adjusted is not None:
        text += (
            f"; adjusted for {found['family']} operators ({_ADJUSTMENT[found['policy']]}) "
            f"p = {probability(adjusted)}"
        )
    return f"{text}. A claim needs p at most {found['alpha']:g}."


def _dissent(operator: Operator) -> Iterator[str]:
    if operator["dissent"]:
        told = ", ".join(f"{count(amount, 'row')} {claim}" for claim, amount in operator["dissent"].items())
        yield f"Not all rows agree: {told}. A mean over rows can hide that; see the rows below."
