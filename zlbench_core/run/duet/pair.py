"""Both processes of a round at once: started, watched, and ended together where one of them ends the pair."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zlbench_core.campaign.model import Duet
from zlbench_core.records.identity import identity_path, load_identity, update_identity
from zlbench_core.run.devices import Lease
from zlbench_core.run.duet.coins import SIDES, Coins
from zlbench_core.run.duet.conductor import Conductor
from zlbench_core.run.duet.coordinator import Coordinator
from zlbench_core.run.runner import GRACE_SECONDS, RunRequest, run_benchmark


class SideThread(threading.Thread):
    """Runs one side's benchmark process and says when it has started and when it has ended."""

    def __init__(self, request: RunRequest, lease: Lease, on_end: Callable[[str], None]) -> None:
        super().__init__(name=f"duet side {request.side.name}")
        self.request, self._lease, self._on_end = request, lease, on_end
        self.error: BaseException | None = None
        self.over = threading.Event()  # join is no substitute: once interrupted it takes the thread for ended
        self._end_process: Callable[[], object] | None = None
        self._unwanted = False
        self._launched = threading.Event()

    def run(self) -> None:
        try:
            run_benchmark(self.request, self._lease, self._note_start)
        except BaseException as error:  # raised again in the job's own thread
            self.error = error
        finally:
            self._launched.set()
            try:
                self._on_end(self.request.side.name)
            finally:
                self.over.set()

    def wait_for_start(self) -> None:
        self._launched.wait()

    def end_process(self) -> None:
        """End the process and whatever it started; one that has not started yet is ended when it does."""
        self._unwanted = True
        if self._end_process is not None:
            self._end_process()

    def _note_start(self, end: Callable[[], object]) -> None:
        self._end_process = end
        if self._unwanted:
            end()
        self._launched.set()


def replay_pair(requests: Mapping[str, RunRequest], lease: Lease, settings: Duet) -> tuple[str, ...]:
    """Run one duet. Returns the sides in the order in which they were launched and loaded.

    Where a side dies or hangs, both identities are failed and name it. Raises what the runner itself raises. That, and
    an interruption, leaves no identity, since half a pair is no evidence.
    """
    one = requests[SIDES[0]]
    conductor = Conductor(settings, Coins(settings.seed, one.op, one.round or 0))
    with Coordinator(conductor, settings.patience) as coordinator:
        threads = {
            name: SideThread(replace(request, duet_socket=coordinator.path), lease, coordinator.ended)
            for name, request in requests.items()
        }
        try:
            for name in conductor.order:
                threads[name].start()
                threads[name].wait_for_start()
            coordinator.run()
            _let_end(threads, conductor)
            _end_all(threads)
            _judge(requests, threads, conductor)
        except BaseException:
            _withdraw(threads)
            raise
    return conductor.order


def _let_end(threads: Mapping[str, SideThread], conductor: Conductor) -> None:
    """A side that goes on well may take its time. Once the pair has failed, the partner has a moment to end
    orderly; a culprit that still lives hangs, and is ended at once."""
    if conductor.culprit is not None:
        threads[conductor.culprit].end_process()
    patience = None if conductor.failure is None else GRACE_SECONDS
    for thread in threads.values():
        thread.over.wait(patience)


def _end_all(threads: Mapping[str, SideThread]) -> None:
    """Whatever happened: no process of this round is left, nor a child of one."""
    for thread in threads.values():
        thread.end_process()
    for thread in threads.values():
        if thread.ident is not None:
            thread.over.wait()


def _withdraw(threads: Mapping[str, SideThread]) -> None:
    """Take both identities away once nothing writes them any more, however often that is interrupted."""
    while True:
        try:
            _end_all(threads)
            for thread in threads.values():
                identity_path(thread.request.out_dir).unlink(missing_ok=True)
            return
        except KeyboardInterrupt:
            continue


def _judge(
    requests: Mapping[str, RunRequest], threads: Mapping[str, SideThread], conductor: Conductor
) -> None:
    for thread in threads.values():
        if thread.error is not None:
            raise thread.error
    if conductor.failure is not None:
        _fail_both(requests, conductor)


def _fail_both(requests: Mapping[str, RunRequest], conductor: Conductor) -> None:
    assert conductor.culprit is not None, "a pair that failed has a side that failed it"
    culprit: dict[str, Any] = load_identity(requests[conductor.culprit].out_dir)
    how = f" ({culprit['failure']})" if culprit.get("failure") else ""
    reason = f"duet: {conductor.failure}{how}"
    print(f"DUET_FAILED op={culprit['op']} round={culprit['round']}: {reason}", flush=True)
    for request in requests.values():
        update_identity(request.out_dir, status="failed", failure=reason)
