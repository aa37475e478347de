"""The timed calls of one benchmark process: which timer each gets, what it left, and when to stop."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from zlbench_core.backends import graph_class
from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.errors_text import describe_chain
from zlbench_core.errors import ConfigError, ZlbenchError
from zlbench_core.records.run_env import TIMER
from zlbench_core.timing import markers
from zlbench_core.timing.capture import capture_through, capture_upstream
from zlbench_core.timing.direct import measure_direct, repeated
from zlbench_core.timing.facts import NOT_MEASURED, Facts, Poison
from zlbench_core.timing.fallback import Attempt, CapturePoisoned, attempt_capture
from zlbench_core.timing.guards import RngGuard, pools_given_back
from zlbench_core.timing.health import is_healthy
from zlbench_core.timing.journal import CONDITIONS, SAMPLES, Journal
from zlbench_core.timing.samples import Samples, TimedRequest, checked, summarise


class ProcessPoisoned(ZlbenchError):
    """An earlier row ruined this process: this row is not measured, and it is not its own fault."""


@dataclass(frozen=True)
class Timers:
    """Upstream's timers as they were before the plugin replaced them, and the device behind them."""

    direct: Callable[..., Any]  # run_direct's signature, in its order
    graph: Callable[..., Any]  # triton.testing.do_bench_cudagraph
    interface: Callable[[], ModuleType | Any]
    known_answer: Callable[[], bool]
    conditions: Callable[[], dict[str, object]] = dict
    flush: Callable[[], None] = lambda: None  # what do_bench does before each launch


@dataclass(frozen=True)
class Settings:
    """What the run asked for: the timer (auto, capture, direct) and how often the direct timer repeats."""

    timer: str = "auto"
    repeat: int = 1
    op: str = ""  # as the deny list names it


@dataclass(frozen=True)
class Row:
    """A timed call that gave a number: `value` in ms as it was asked for, and why it fell back, if it did."""

    samples: Samples
    value: Any
    fallback: str | None = None
    verdict: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)  # what else its line of samples.jsonl says


class TimingSession:
    def __init__(self, backend: DeviceBackend, settings: Settings, timers: Timers, journal: Journal) -> None:
        self.backend, self.settings, self.timers, self.journal = backend, settings, timers, journal
        self.facts = Facts()
        self.node = ""
        self.op = settings.op
        self.poison: Poison | None = None
        self.busy = False
        self._seq = -1

    def time(self, request: TimedRequest) -> Any:
        """The latency in ms, as `request` asks for it, by the timer that this row bears.

        Raises NoMeasurement, ProcessPoisoned, CapturePoisoned, or what the benchmark itself raises.
        """
        self.facts.asked(request)
        return self._row(lambda: self._sample(request))

    def time_own(self, name: str, call: Callable[[], Any]) -> Any:
        """What the vendor's own timer `name` returns. It takes no budget, repeats and captures nothing."""
        return self._row(lambda: _own_row(name, call()))

    def refuse_if_poisoned(self, seq: int | None = None) -> None:
        """Raises ProcessPoisoned, and says so in the log, once a row has ruined the process."""
        if self.poison is None:
            return
        self.facts.rows[NOT_MEASURED] += 1
        print(markers.marker_line(markers.NOT_MEASURED, self.node, seq, str(self.poison)))
        raise ProcessPoisoned(str(self.poison))

    def identity_fields(self) -> dict[str, Any]:
        """What this run's identity is told: the timer as really used, and the measurement's facts."""
        measurement = self.facts.measurement(self.backend.direct_flushes_l2)
        measurement["timer_asked"] = self.settings.timer
        if self.poison is not None:
            measurement["poisoned"] = {"blame": self.poison.blame, "reason": self.poison.reason}
        timer = self.facts.timer()
        known = {} if timer is None else {"timer": timer}
        return {**known, "direct_repeat": self.settings.repeat, "measurement": measurement}

    def _row(self, measure: Callable[[], Row]) -> Any:
        self._seq += 1
        self.refuse_if_poisoned(self._seq)
        guard = RngGuard(self.timers.interface())
        self.busy = True
        try:
            row = measure()
        except BaseException as error:
            guard.restore()  # a tuner's own capture may have been refused as well
            self._judge(error)
            raise
        finally:
            self.busy = False
        self._record(row)
        return row.value

    def _sample(self, request: TimedRequest) -> Row:
        interface = self.timers.interface()
        if not self._captures(interface):
            return self._direct(request, interface)
        denied = self._denied()
        if denied is not None:
            return self._fall_back(request, interface, f"{denied} is on the deny list of captures", None)
        attempt = self._attempt(request, interface, lambda: self._capture(request, interface))
        if attempt.samples is None:
            return self._fall_back(request, interface, str(attempt.reason), attempt.verdict)
        samples = checked(attempt.samples)
        return Row(samples, summarise(samples.values_ms, request))

    def _captures(self, interface: ModuleType | Any) -> bool:
        asked = self.settings.timer
        if asked == "direct" or not (self.backend.supports_cuda_graph or asked == "capture"):
            return False
        has_graph = graph_class(interface) is not None
        if asked == "capture" and not has_graph:
            name = self.backend.name
            raise ConfigError(
                f"{TIMER}=capture: the {name} device interface has no graph; use auto or direct"
            )
        return has_graph

    def _denied(self) -> str | None:
        return next((op for op in (self.settings.op, self.op) if self.backend.denies_capture(op)), None)

    def _attempt(
        self, request: TimedRequest, interface: ModuleType | Any, capture: Callable[[], Samples]
    ) -> Attempt:
        """Samples or a recoverable refusal. The other verdicts mark the process as done and raise."""
        request.fn()  # tuning and compiling happen here, not inside the graph
        interface.synchronize()
        attempt = attempt_capture(
            capture,
            self.backend.classify_capture_error,
            RngGuard(interface).restore,
            lambda: is_healthy(interface, request.fn, self.timers.known_answer),
        )
        if attempt.error is not None:
            self._end(attempt.error, str(attempt.verdict))
            if attempt.verdict == "poisoned":
                raise CapturePoisoned(f"{markers.CAPTURE_POISONED}: {attempt.reason}") from attempt.error
            raise attempt.error
        return attempt

    def _capture(self, request: TimedRequest, interface: ModuleType | Any) -> Samples:
        with pools_given_back(interface, self.backend.process_give_back_pool):
            if self.backend.upstream_graph_timer:
                return capture_upstream(self.timers.graph, request)
            return capture_through(interface, request)

    def _fall_back(
        self, request: TimedRequest, interface: ModuleType | Any, reason: str, verdict: str | None
    ) -> Row:
        print(markers.marker_line(markers.DIRECT_NO_CUDAGRAPH, self.node, self._seq, reason))
        self.facts.fallbacks[reason] += 1
        return replace(self._direct(request, interface), fallback=reason, verdict=verdict)

    def _direct(self, request: TimedRequest, interface: ModuleType | Any) -> Row:
        runs: list[Samples] = []

        def once() -> Any:
            flushes = self.backend.direct_flushes_l2
            runs.append(checked(measure_direct(self.timers.direct, interface, request, flushes)))
            return summarise(runs[-1].values_ms, request)

        value = repeated(once, 1 if request.wants_sequence else self.settings.repeat)
        return Row(_joined(runs), value)

    def _judge(self, error: BaseException) -> None:
        if self.poison is None and isinstance(error, Exception):
            verdict = self.backend.classify_error(error)
            if verdict != "failed":
                self._end(error, verdict)

    def _end(self, error: BaseException, verdict: str) -> None:
        """Nothing more is measured in this process; the log is told why, once."""
        reason, blame = describe_chain(error), self.backend.blame(error)
        self.poison = Poison(self._seq, self.node, blame, reason)
        print(markers.marker_line(markers.failure_marker(verdict, blame), self.node, self._seq, reason))

    def _record(self, row: Row) -> None:
        self.facts.rows[row.samples.timer] += 1
        where = {"seq": self._seq, "node": self.node}
        self.journal.write(SAMPLES, where | _line(row))
        if conditions := self.timers.conditions():
            self.journal.write(CONDITIONS, where | conditions)


def _own_row(name: str, value: Any) -> Row:
    values = tuple(map(float, value)) if hasattr(value, "__len__") else (float(value),)
    return Row(checked(Samples(name, values, flush_l2=False)), value)


def _joined(runs: list[Samples]) -> Samples:
    return replace(
        runs[0],
        values_ms=tuple(value for run in runs for value in run.values_ms),
        flush_l2=all(run.flush_l2 for run in runs),
        batch=max(run.batch for run in runs),
    )


def _line(row: Row) -> dict[str, Any]:
    """One line of samples.jsonl. A sequence has no single value: its median stands there."""
    return {
        "timer": row.samples.timer,
        "flush_l2": row.samples.flush_l2,
        "batch": row.samples.batch,
        "samples_ms": list(row.samples.values_ms),
        "value_ms": float(statistics.median(row.value) if hasattr(row.value, "__len__") else row.value),
        "fallback": row.fallback,
        "verdict": row.verdict,
        **row.more,
    }
