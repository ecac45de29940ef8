"""Two ranks answer a bad step alike: what one has to leave out, both leave out, and both stop together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, RunWatched

PROGRAM = Path(__file__).parent / "programs" / "two_ranks.py"


@pytest.fixture(autouse=True)
def reached_by_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks are started from nothing, by a program that is forked."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def sums(stdout: str) -> list[str]:
    return sorted(line for line in stdout.splitlines() if line.startswith("rank "))


def test_a_bad_batch_of_one_rank_is_left_out_on_both(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, mode="prod")
    twin = subprocess.run([sys.executable, str(PROGRAM), "passes"], capture_output=True, text=True, check=True)
    assert watched.status == 0, watched.stderr
    assert sorted((a["rank"], a["step"], a["action"]) for a in watched.report["actions"]) == [
        (0, 5, "skip-update"),
        (1, 5, "skip-update"),
    ]
    assert len(sums(watched.stdout)) == 2
    assert sums(watched.stdout) == sums(twin.stdout)
    assert watched.report["verdict"]["rank"] == 1  # the rank whose batch it was, and no other, has looked into it


@pytest.mark.sweep
def test_mode_observe_takes_part_in_no_reduction(run_watched: RunWatched) -> None:
    """A replay in front of the bad backward would reduce gradients of its own with those of the other rank."""
    watched = run_watched(PROGRAM, mode="observe")
    bare = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=True)
    assert sorted(watched.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert watched.report["verdict"] is not None


@pytest.mark.sweep
def test_a_fault_that_stays_stops_both(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, "lasting", mode="prod")
    assert watched.status == 3, watched.stderr
    stops = [(a["rank"], a["step"]) for a in watched.report["actions"] if a["action"] == "stop"]
    assert sorted(stops) == [(0, 7), (1, 7)]
    assert sorted(p.name for p in watched.run.glob("last-good/*.pt")) == ["rank-0.pt", "rank-1.pt"]
