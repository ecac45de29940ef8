"""Sharded states are written while ranks train; a rank that dies in the middle holds nobody up and costs no state."""

from __future__ import annotations

import subprocess
from pathlib import Path
from time import perf_counter

import pytest

from debugtracer.recorder.output.last_good import verified
from debugtracer.trace.store.saved_state import newest
from tests.forked import Programs

PROGRAM = Path(__file__).parent / "programs" / "sharded_saving.py"


def ran(programs: Programs, how: str, folder: Path) -> tuple[list[str], float]:
    """What each rank said, and the seconds until all had ended."""
    begin = perf_counter()
    words = [*programs.python, str(PROGRAM), how, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    assert "Traceback" not in done.stderr, done.stderr
    return sorted(line for line in done.stdout.splitlines() if line.startswith("rank ")), perf_counter() - begin


@pytest.mark.sweep
@pytest.mark.parametrize("how", ["waits", "destroys"])
def test_training_goes_on_and_the_state_is_whole(programs: Programs, tmp_path: Path, how: str) -> None:
    said, _ = ran(programs, how, tmp_path)
    assert [line.split(":")[0].rsplit(" ", 2)[0] for line in said] == [
        f"rank {rank} trained True skipped True failed False" for rank in range(2)
    ]
    step, states, problems = newest(tmp_path)
    assert (step, len(states), problems) == (6, 2, [])


def test_a_rank_that_is_killed_in_the_middle_holds_nobody_up(programs: Programs, tmp_path: Path) -> None:
    said, took_s = ran(programs, "dies", tmp_path)
    assert len(said) == 1 and "failed True" in said[0] and "no part came from rank 1 in time" in said[0]
    assert took_s < 40  # it waits 4 s for that part; a machine may be busy
    step, states, problems = newest(tmp_path)
    assert (step, len(states), problems) == (5, 2, [])
    assert all(verified(state.path)["step"] == 5 for state in states)


def test_a_rank_that_cannot_keep_two_states_costs_those_alone(programs: Programs, tmp_path: Path) -> None:
    words = [*programs.python, str(PROGRAM), "fails", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100)
    said = sorted(done.stdout.splitlines())
    common = [line.split()[2:] for line in said if line.startswith("common 0")]
    assert common == [["10", "10"], ["11", "11"], ["6", "6"], ["7", "6"], ["8", "6"], ["9", "9"]], done.stderr
    assert [line.split(":")[0] for line in said if line.startswith("failed")] == ["failed 1 7", "failed 1 8"]
    assert sorted(p.name for p in (tmp_path / "last-good").glob("shards-*")) == ["shards-10", "shards-11"]
