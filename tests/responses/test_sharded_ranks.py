"""Ranks whose weights are sharded (FSDP2) answer alike, also where one of them alone holds the bad part."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.trace.store.saved_state import newest
from tests.conftest import ROOT, RunWatched
from tests.faults.every import SWEEP
from tests.forked import Programs

PROGRAM = Path(__file__).parent / "programs" / "sharded_ranks.py"


@pytest.fixture(autouse=True)
def reached_by_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks are started from nothing, by a program that is forked."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def left(stdout: str) -> list[str]:
    """What each rank holds in the end: its shards, moments and buffers."""
    return sorted(line for line in stdout.splitlines() if line.startswith("rank "))


def bare(*words: str) -> list[str]:
    done = subprocess.run([sys.executable, str(PROGRAM), *words], capture_output=True, text=True, check=True)
    return left(done.stdout)


def test_a_bad_batch_of_one_rank_is_left_out_on_all(
    run_watched: RunWatched, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not SWEEP:  # ranks that are spawned import torch again
        monkeypatch.setenv("START_METHOD", "fork")
    watched = run_watched(PROGRAM, "sample", "2", mode="prod")
    assert watched.status == 0, watched.stderr
    assert [(a["step"], a["action"]) for a in watched.report["actions"]] == [(12, "skip-update")] * 2
    twin = [*programs.python, str(PROGRAM), "passes", "2"]
    assert left(watched.stdout) == left(subprocess.run(twin, capture_output=True, text=True, check=True).stdout)
    assert watched.report["verdict"]["rank"] == 1


@pytest.mark.sweep
@pytest.mark.parametrize("ranks", ["2", "4"])
@pytest.mark.parametrize("mode", ["val", "prod"])
@pytest.mark.parametrize("how", ["sample", "row"])
def test_the_update_is_left_out_bit_by_bit(run_watched: RunWatched, how: str, mode: str, ranks: str) -> None:
    """`row`: the derivative is bad in a part that one rank holds; the others are told of it by the vote alone."""
    watched = run_watched(PROGRAM, how, ranks, mode=mode, timeout_s=240)
    assert watched.status == 0, watched.stderr
    assert [(a["step"], a["action"]) for a in watched.report["actions"]] == [(12, "skip-update")] * int(ranks)
    assert left(watched.stdout) == bare("passes", ranks)
    reported = sum("another rank has found" in a["reason"] for a in watched.report["actions"])
    assert reported == (int(ranks) - 1 if how == "row" else 0)


@pytest.mark.sweep
@pytest.mark.parametrize("mode", ["observe", "val", "prod"])
def test_healthy_ranks_are_left_alone_bit_by_bit(run_watched: RunWatched, mode: str) -> None:
    watched = run_watched(PROGRAM, "healthy", "4", mode=mode, timeout_s=240)
    assert watched.status == 0 and watched.report.get("actions", []) == []
    assert left(watched.stdout) == bare("healthy", "4")


@pytest.mark.sweep
@pytest.mark.parametrize("ranks", ["2", "4"])
def test_a_bad_shard_sends_all_back_to_the_same_step(run_watched: RunWatched, ranks: str) -> None:
    watched = run_watched(PROGRAM, "moments", ranks, mode="prod", timeout_s=240)
    assert watched.status == 0, watched.stderr
    backs = [a for a in watched.report["actions"] if a["action"] == "roll-back"]
    assert len(backs) == int(ranks) and len({(a["step"], a["reason"].split("state of ")[1]) for a in backs}) == 1
    assert all(line.endswith("finite True") for line in left(watched.stdout))
    assert all(line.endswith("finite False") for line in bare("moments", ranks))


@pytest.mark.sweep
@pytest.mark.parametrize("ranks", ["2", "4"])
def test_a_fault_that_stays_stops_all_and_leaves_one_state(run_watched: RunWatched, ranks: str) -> None:
    watched = run_watched(PROGRAM, "lasting", ranks, mode="prod", timeout_s=240)
    assert watched.status == 3, watched.stderr
    stops = [a["step"] for a in watched.report["actions"] if a["action"] == "stop"]
    assert stops == [14] * int(ranks)
    step, states, problems = newest(watched.run)
    assert (step, len(states), problems) == (14, int(ranks), [])
    assert all(state.sharded for state in states)


@pytest.mark.sweep
def test_a_rank_that_dies_leaves_no_other_hanging(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, "dies", "4", mode="prod", timeout_s=120)
    assert watched.status not in (0, 3)
    assert "process 3 terminated with exit code 9" in watched.stderr
