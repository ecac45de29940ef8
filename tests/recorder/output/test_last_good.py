"""A last good state is finite, loads without executing anything, and a damaged one is refused."""

from __future__ import annotations

import functools
import json
import resource
import signal
import threading
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import LastGood, verified
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.store.saved_state import newest


class Mine:
    """A class of the program's, in the state of its schedule."""


def a_state(model: nn.Module) -> RunState:
    state = RunState()
    state.roots.add(model, None)
    state.step = 7
    return state


def test_it_holds_everything_and_its_sum(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    state = a_state(model)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2])
    state.schedulers[schedule] = True
    path = LastGood(state).write(tmp_path, 0, [optimizer])
    left = verified(path)
    assert [part["class"] for kind in ("models", "optimizers", "schedulers") for part in left[kind]] == [
        "Sequential",
        "Adam",
        "MultiStepLR",
    ]
    assert json.loads(path.with_suffix(".json").read_text())["step"] == left["step"] == 7
    assert sorted(p.name for p in path.parent.iterdir()) == ["rank-0.json", "rank-0.pt"]
    assert torch.equal(left["generators"]["torch"], torch.get_rng_state())


def test_bad_values_are_never_written(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    with torch.no_grad():
        model.bias[0] = float("inf")
    with pytest.raises(DebugTracerError, match="not finite"):
        LastGood(a_state(model)).write(tmp_path, 0, [])
    assert not (tmp_path / "last-good").exists()


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = LastGood(a_state(nn.Linear(2, 2))).write(tmp_path, 0, [])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DebugTracerError, match="damaged"):
        verified(path)
    path.with_suffix(".json").unlink()
    with pytest.raises(DebugTracerError, match="cannot be read"):
        verified(path)


def test_a_schedule_with_objects_of_the_program_is_left_out(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    optimizer, state = torch.optim.SGD(model.parameters(), lr=0.1), a_state(model)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    schedule.mine = Mine()  # type: ignore[attr-defined]
    state.schedulers[schedule] = True
    left = verified(LastGood(state).write(tmp_path, 0, [optimizer]))
    assert left["schedulers"] == [] and len(left["optimizers"]) == 1


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "last-good").write_text("a file in the way")
    with pytest.raises(DebugTracerError, match="could not be written"):
        LastGood(a_state(nn.Linear(2, 2))).write(tmp_path, 0, [])


def test_a_full_disk_is_told_in_words(tmp_path: Path) -> None:
    was, ignored = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, was[1]))
    try:
        with pytest.raises(DebugTracerError, match="the disk is full, or a file may not be that large"):
            LastGood(a_state(nn.Linear(200, 200))).write(tmp_path, 0, [])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list((tmp_path / "last-good").iterdir()) == []


def test_what_is_written_later_is_the_state_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, may, put = nn.Linear(2, 2), threading.Event(), LastGood.put
    monkeypatch.setattr(LastGood, "put", lambda self, parts, fresh: (may.wait(20), put(self, parts, fresh)))
    writer, then = LastGood(a_state(model)), model.weight.detach().clone()
    writer.write_later(tmp_path, 0, [])
    with torch.no_grad():
        model.weight.add_(1)
    writer.write_later(tmp_path, 0, [])  # the first one is under way: nothing is begun
    assert writer.background.busy and not (tmp_path / "last-good" / "rank-0.pt").exists()
    may.set()
    writer.background.finish()
    left = verified(tmp_path / "last-good" / "rank-0.pt")
    assert torch.equal(left["models"][0]["state"]["weight"], then)
    assert not (tmp_path / "last-good" / "rank-0.older.pt").exists()


def test_what_could_not_be_written_later_is_told_the_next_time(tmp_path: Path) -> None:
    (tmp_path / "last-good").write_text("a file in the way")
    writer = LastGood(a_state(nn.Linear(2, 2)))
    writer.write_later(tmp_path, 0, [])
    writer.background.finish()
    with pytest.raises(DebugTracerError, match="could not be written"):
        writer.write_later(tmp_path, 0, [])


def test_a_state_that_is_no_checkpoint_of_the_program_is_seen_by_no_observer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrapped(*args: object) -> None:
        raise AssertionError

    monkeypatch.setattr(torch, "save", functools.wraps(torch.save)(wrapped))
    assert LastGood(a_state(nn.Linear(2, 2))).write(tmp_path, 0, []).exists()


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_killed_between_any_two_moves_a_state_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    """Of the third state: its sums take their place, the second steps back, it takes its own place."""
    state = a_state(nn.Linear(2, 2))
    writer = LastGood(state)
    for step in (1, 2):
        state.step = step
        writer.write(tmp_path, 0, [])
    left, move = iter(range(moves)), Path.replace

    def killed(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return move(path, target)

    monkeypatch.setattr(Path, "replace", killed)
    state.step = 3
    with pytest.raises(KeyboardInterrupt):
        writer.write(tmp_path, 0, [])
    monkeypatch.undo()
    step, (found,), problems = newest(tmp_path)
    assert (step, problems) == (2, []) and verified(found.path)["step"] == 2
    state.step = 4
    writer.write(tmp_path, 0, [])  # the run goes on from there
    assert newest(tmp_path)[0] == 4
    (tmp_path / "last-good" / "rank-0.pt").unlink()
    assert newest(tmp_path)[0] == 2
