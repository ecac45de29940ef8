"""The stop: status 3, the reason why nothing smaller would do, and a last good state that loads."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.errors import StoppedByTracer
from debugtracer.recorder.output.last_good import verified
from debugtracer.trace.store.reader import open_trace
from tests.responses.loops import Loop, actions, adam, given
from tests.watching import same_bits, under_watch


def test_three_bad_steps_in_a_row_end_the_run_with_the_state_of_before(tmp_path: Path) -> None:
    batches = given(12, (6, 7, 8))
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        loop = Loop()
        loop.go(batches)
    done = actions(tmp_path)
    assert [(a.action, a.step) for a in done] == [("skip-update", 6), ("skip-update", 7), ("stop", 8)]
    assert "3 bad steps in a row" in done[-1].reason
    bare = Loop()
    bare.go(batches[:6])
    assert all(same_bits(a, b) for a, b in zip(loop.state(), bare.state(), strict=True))


def test_a_program_that_catches_each_stop_is_told_so_ever_less_often(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with under_watch(tmp_path, "prod"):
        loop, caught = Loop(), 0
        for batch in given(40, tuple(range(6, 40))):
            try:
                loop.go([batch])
            except SystemExit:
                caught += 1
    stops = [a for a in actions(tmp_path) if a.action == "stop"]
    assert caught > 8 and len(stops) == caught.bit_length()
    assert "its last good state is" in stops[0].reason
    assert "the program has caught 1 stop (SystemExit) and goes on; no further state is written" in stops[1].reason
    assert capfd.readouterr().err.count("the run was stopped") == len(stops)


def test_the_last_good_state_is_the_state_of_the_program(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val"), pytest.raises(StoppedByTracer):
        loop = Loop()
        loop.go(given(12, (6, 7, 8)))
    left = verified(open_trace(tmp_path).path / "last-good" / "rank-0.pt")
    fresh = Loop(adam)
    fresh.model.load_state_dict(left["models"][0]["state"])
    fresh.optimizer.load_state_dict(left["optimizers"][0]["state"])
    assert left["step"] == 8
    assert all(same_bits(a, b) for a, b in zip(loop.state(), fresh.state(), strict=True))


def test_weights_that_are_bad_from_the_start_are_no_reason_to_skip(tmp_path: Path) -> None:
    with under_watch(tmp_path, "prod"), pytest.raises(StoppedByTracer):
        loop = Loop()
        with torch.no_grad():
            loop.model[0].weight[0, 0] = float("nan")  # type: ignore[index,operator]
        loop.go(given(12, ()))
    (done,) = actions(tmp_path)
    assert done.action == "stop"
    assert "the weights themselves are not finite" in done.reason
    assert "its state was not written: the present state holds values that are not finite" in done.reason
    assert not (open_trace(tmp_path).path / "last-good").exists()
