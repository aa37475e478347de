"""The timed calls of one side of a duet: each row is timed together with the partner's, or by neither."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from zlbench_core.backends.errors_text import describe_chain
from zlbench_core.duet.client import Client
from zlbench_core.duet.identify import RowId, RowIds, as_text
from zlbench_core.duet.row import BlockTimes, RowSampler
from zlbench_core.errors import ZlbenchError
from zlbench_core.records import messages
from zlbench_core.records.messages import GRAPH, Message
from zlbench_core.timing import markers
from zlbench_core.timing.capture import estimate_ms
from zlbench_core.timing.facts import NOT_MEASURED
from zlbench_core.timing.guards import pools_given_back
from zlbench_core.timing.samples import CUDA_GRAPH, DIRECT, Samples, TimedRequest, checked, summarise
from zlbench_core.timing.session import Row, TimingSession

MAX_LISTED = 100
SPENT = ("timed", "discarded", "warm_up")


class RowLost(ZlbenchError):
    """The partner has no such row, or failed in it: there is no measurement, and it is not this side's fault."""


class DuetSession(TimingSession):
    client: Client

    def __init__(self, *args: Any, client: Client) -> None:
        super().__init__(*args)
        self.client = client
        self._ids = RowIds()
        self.lost: list[str] = []
        self.voided = 0
        self.spent = dict.fromkeys(SPENT, 0.0)

    def time(self, request: TimedRequest) -> Any:
        """The side's latency of the row in ms; nan where the row is lost, and a line in the log that says why.

        Raises what the benchmark itself raises, after the partner has been told.
        """
        self.facts.asked(request)
        row = self._ids.next(self.node, request.fn)
        try:
            return self._row(lambda: self._in_duet(request, row))
        except RowLost as lost:
            self._note_lost(row, str(lost))
            self.facts.rows[NOT_MEASURED] += 1
            return [math.nan] * len(request.quantiles or [0]) if request.wants_sequence else math.nan
        except Exception as error:
            self._tell_lost(row, error)
            raise

    def row_failed(self, call: Callable[[], Any], error: BaseException) -> None:
        """A benchmark failed at a row before it called the timer (duet/announce.py)."""
        self._tell_lost(self._ids.next(self.node, call), error)

    def identity_fields(self) -> dict[str, Any]:
        fields = super().identity_fields()
        fields["measurement"]["pair"] = {
            "spent_ms": {name: round(self.spent[name], 3) for name in SPENT},
            "void_superblocks": self.voided,
            "lost_rows": self.lost,
        }
        return fields

    def _judge(self, error: BaseException) -> None:
        # What the partner's error says of a device says nothing about this process.
        if not isinstance(error, RowLost):
            super()._judge(error)

    def _tell_lost(self, row: RowId, error: BaseException) -> None:
        reason = describe_chain(error)
        self._note_lost(row, f"side {self.client.side}: {reason}")
        self.client.tell(messages.LOST, key=row.key, occurrence=row.occurrence, reason=reason)

    def _note_lost(self, row: RowId, reason: str) -> None:
        line = f"{as_text(row)}: {reason}"
        print(markers.marker_line(markers.ROW_LOST, self.node, None, line))
        if len(self.lost) < MAX_LISTED:
            self.lost.append(line)

    def _in_duet(self, request: TimedRequest, row: RowId) -> Row:
        interface = self.timers.interface()
        request.fn()  # compiles, and replays the pins, while the device is this side's alone
        interface.synchronize()
        sampler = RowSampler(interface, request, self.timers.flush)
        blocks = _Blocks()
        answer = self._arrive(request, interface, row)
        fallback = None
        while answer["type"] != messages.DONE:
            if answer["type"] == messages.LOST:
                raise RowLost(answer["reason"])
            if answer["type"] == messages.PREPARE:
                fallback = answer["fallback"]
                reply = self._prepare(answer, request, interface, sampler)
                answer = self.client.ask(messages.PREPARED, **reply)
            else:
                answer = self._block(answer, sampler, blocks)
        return self._finish(answer, request, row, sampler, blocks, fallback)

    def _arrive(self, request: TimedRequest, interface: ModuleType | Any, row: RowId) -> Message:
        graph = self._captures(interface)
        denied = self._denied() if graph else None
        refusal = f"{denied} is on the deny list of captures" if denied is not None else None
        return self.client.ask(
            messages.ROW,
            key=row.key,
            occurrence=row.occurrence,
            label=as_text(row),
            node=self.node,
            estimate_ms=estimate_ms(interface, request),
            graph=graph and refusal is None,
            refusal=refusal,
        )

    def _prepare(
        self, asked: Message, request: TimedRequest, interface: ModuleType | Any, sampler: RowSampler
    ) -> dict[str, Any]:
        """How long a sample takes, or why this row refuses to be captured."""
        if asked["way"] == GRAPH:
            attempt = self._attempt(
                request, interface, lambda: self._capture_into(sampler, asked["launches"], interface)
            )
            if attempt.samples is None:
                return {"sample_ms": None, "refusal": str(attempt.reason)}
            return {"sample_ms": sampler.sample_ms(), "refusal": None}
        sampler.go_direct(asked["launches"])
        return {"sample_ms": sampler.sample_ms(), "refusal": None}

    def _capture_into(self, sampler: RowSampler, launches: int, interface: ModuleType | Any) -> Samples:
        with pools_given_back(interface, self.backend.process_give_back_pool):
            return sampler.capture(launches)

    def _block(self, asked: Message, sampler: RowSampler, blocks: _Blocks) -> Message:
        times = sampler.block(asked["discard"], asked["count"])
        conditions = self.timers.conditions()
        self._count(asked, times, blocks)
        if asked["superblock"] is not None:
            blocks.add(asked, times, conditions)
        return self.client.ask(
            messages.BLOCK,
            samples_ms=list(times.samples_ms),
            disturbed=self.backend.disturbance(conditions),
        )

    def _count(self, asked: Message, times: BlockTimes, blocks: _Blocks) -> None:
        warm_up = asked["superblock"] is None
        blocks.spent["warm_up" if warm_up else "timed"] += times.spent_ms
        blocks.spent["warm_up" if warm_up else "discarded"] += times.discarded_spent_ms

    def _finish(
        self,
        done: Message,
        request: TimedRequest,
        row: RowId,
        sampler: RowSampler,
        blocks: _Blocks,
        fallback: str | None,
    ) -> Row:
        if fallback is not None:
            print(markers.marker_line(markers.DIRECT_NO_CUDAGRAPH, self.node, self._seq, fallback))
            self.facts.fallbacks[fallback] += 1
        for name, spent_ms in blocks.spent.items():
            self.spent[name] += spent_ms
        self.voided += sum(reason is not None for reason in done["void"])
        timer = CUDA_GRAPH if sampler.way == GRAPH else DIRECT
        flushes = sampler.flushes and self.backend.direct_flushes_l2
        samples = checked(Samples(timer, tuple(blocks.samples_ms), flushes, sampler.launches))
        value = summarise(samples.values_ms, request) if request.wants_sequence else done["value_ms"]
        more = {"row": vars(row), "order": done["orders"], "void": done["void"], "warm_up": done["warm_up"]}
        return Row(samples, value, fallback, more=more | blocks.to_json())


class _Blocks:
    """The blocks of a row that are recorded, and what all of them cost the device, in ms."""

    def __init__(self) -> None:
        self.samples_ms: list[float] = []
        self.spent = dict.fromkeys(SPENT, 0.0)
        self._blocks: list[dict[str, Any]] = []

    def add(self, asked: Message, times: BlockTimes, conditions: Mapping[str, object]) -> None:
        """Its samples are the `count` from `first` on of the row's samples."""
        where = {"superblock": asked["superblock"], "place": asked["place"]}
        part = {"first": len(self.samples_ms), "count": len(times.samples_ms)}
        told = {"conditions": dict(conditions)} if conditions else {}
        self._blocks.append({**where, **part, "discarded_ms": list(times.discarded_ms), **told})
        self.samples_ms += times.samples_ms

    def to_json(self) -> dict[str, Any]:
        return {"blocks": self._blocks, "spent_ms": self.spent}
