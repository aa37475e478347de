"""Real sockets, real threads: the loop, its ends, and what it leaves behind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.unit.run.duet.duet_fakes import Walker, coins, settings
from zlbench_core.duet.client import Client, PairEnded
from zlbench_core.run.duet.conductor import Conductor
from zlbench_core.run.duet.coordinator import Coordinator


class Device:
    """Nobody may use it while somebody else does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.users: list[str] = []

    @contextmanager
    def used_by(self, name: str) -> Iterator[None]:
        assert self._lock.acquire(blocking=False), f"{name} uses the device while another does"
        self.users.append(name)
        yield
        self._lock.release()


class Player(threading.Thread):
    """A side in a thread: a walker over a real client. It ends when it is told that the pair has ended."""

    def __init__(self, walker: Walker, path: Path, device: Device) -> None:
        super().__init__()
        self.walker, self.path, self.device = walker, path, device
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._play(Client(str(self.path), self.walker.name))
        except BaseException as error:
            self.error = error

    def _play(self, client: Client) -> None:
        message = {"type": "go"}
        while True:
            with self.device.used_by(self.walker.name):
                *told, last = self.walker.answer(message)
            for said in told:
                client.tell(said.pop("type"), **said)
            if last is None:
                client.close()
                return
            message = client.ask(last.pop("type"), **last)


def play(a: Walker, b: Walker, **changes: object) -> tuple[Conductor, dict[str, Player], Device, Path]:
    conductor, device = Conductor(settings(**changes), coins()), Device()
    with Coordinator(conductor, conductor.settings.patience) as coordinator:
        players = {walker.name: Player(walker, coordinator.path, device) for walker in (b, a)}
        for player in players.values():
            player.start()
        coordinator.run()
        path = coordinator.path
    for player in players.values():
        player.join(10)
    return conductor, players, device, path


def test_two_sides_walk_together_and_never_use_the_device_at_once() -> None:
    rows = [str(number) for number in range(5)]
    conductor, players, device, path = play(Walker("a", rows), Walker("b", rows))
    assert conductor.failure is None
    assert [player.error for player in players.values()] == [None, None]
    assert list(players["a"].walker.results) == list(players["b"].walker.results) == rows
    assert {"a", "b"} == set(device.users)
    assert not path.parent.exists()


def test_a_side_that_dies_stops_the_other_and_leaves_no_socket() -> None:
    conductor, players, _, path = play(Walker("a", ["1", "2"]), Walker("b", ["1", ("dies",)]))
    assert conductor.failure == "side b died at row row 1"
    assert isinstance(players["a"].error, PairEnded)
    assert str(players["a"].error) == "side b died at row row 1"
    assert not path.parent.exists()


def test_a_side_that_hangs_is_ended_by_the_patience() -> None:
    release = threading.Event()

    def block(side: str, key: str, command: dict[str, object]) -> dict[str, object]:
        release.wait(10)
        return {"type": "lost", "key": key, "occurrence": 0, "reason": "too late"}

    hanging = Walker("a", ["1"], block)
    threading.Timer(1.0, release.set).start()
    conductor, players, _, _ = play(hanging, Walker("b", ["1"], block), patience=0.3)
    assert conductor.failure.startswith("side ")
    assert "hangs: no word for 0.3 s at row row 1" in conductor.failure
    assert all(isinstance(player.error, PairEnded) for player in players.values())


def test_nobody_connects_and_the_patience_ends_it() -> None:
    now = iter(range(0, 1000, 10))
    conductor = Conductor(settings(), coins())
    with Coordinator(conductor, 5.0, clock=lambda: float(next(now))) as coordinator:
        coordinator.run()
    assert conductor.failure == "side a hangs: no word for 60 s before its first row"


def test_a_process_that_ends_while_its_child_holds_the_connection_is_noticed() -> None:
    conductor = Conductor(settings(), coins())
    with Coordinator(conductor, 60.0) as coordinator:
        held = socket.socket(socket.AF_UNIX)
        held.connect(str(coordinator.path))
        held.sendall(b'{"type": "hello", "side": "a", "pid": 1}\n{"type": "bye"}\n')
        ends = threading.Thread(
            target=lambda: (held.recv(100), coordinator.ended("a"), coordinator.ended("b"))
        )
        ends.start()
        coordinator.run()
        ends.join()
        held.close()
    assert conductor.failure == "side b died before its first row"


@pytest.mark.parametrize(
    ("line", "failure"),
    [
        (b"no json\n", "side a no message"),
        (b"[1]\n", "side a no message"),
        (b"x" * (5 << 20), "side a no message"),
    ],
)
def test_what_is_no_message_ends_the_pair(line: bytes, failure: str) -> None:
    conductor = Conductor(settings(), coins())
    with Coordinator(conductor, 60.0) as coordinator:
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(coordinator.path))

        def talk() -> None:
            one.sendall(b'{"type": "hello", "side": "a", "pid": 1}\n')
            one.recv(100)
            with suppress(OSError):  # the coordinator may have hung up on it
                one.sendall(line)

        talker = threading.Thread(target=talk)
        talker.start()
        coordinator.run()
    talker.join()
    one.close()
    assert conductor.failure.startswith(failure)


def test_a_stranger_at_the_socket_disturbs_nobody() -> None:
    conductor = Conductor(settings(), coins())
    with Coordinator(conductor, 60.0) as coordinator:
        stranger = socket.socket(socket.AF_UNIX)
        stranger.connect(str(coordinator.path))
        stranger.sendall(b'{"type": "row"}\n')
        device = Device()
        players = [Player(Walker(name, ["1"]), coordinator.path, device) for name in "ab"]
        for player in players:
            player.start()
        coordinator.run()
        assert stranger.recv(100) == b""
        stranger.close()
    for player in players:
        player.join(10)
    assert conductor.failure is None
    assert all(player.walker.results for player in players)


def test_a_side_is_stopped_when_the_coordinator_is_gone(tmp_path: Path) -> None:
    with pytest.raises(PairEnded, match="no coordinator at"):
        Client(str(tmp_path / "gone"), "a")


def test_a_long_temporary_folder_still_gives_a_path_that_a_socket_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: Callable[[], str] = lambda: str(tmp_path / ("x" * 120))  # noqa: E731
    monkeypatch.setattr("tempfile.gettempdir", deep)
    with Coordinator(Conductor(settings(), coins()), 1.0) as coordinator:
        assert len(str(coordinator.path)) < 100
