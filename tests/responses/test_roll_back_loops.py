"""A roll-back is bitwise in every kind of loop: half precision, accumulation, Lightning, Trainer, accelerate."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import RunWatched

PROGRAM = Path(__file__).parent / "programs" / "spoiled.py"
SPOILED = 13  # the update whose gate sees the weight that the program has spoiled
FRAMEWORKS = [pytest.param(name, marks=pytest.mark.sweep) for name in ("trainer", "accelerate")]


@pytest.mark.parametrize("kind", ["amp", "accumulation", "lightning", *FRAMEWORKS])
def test_the_state_after_it_is_the_one_that_was_to_the_bit(run_watched: RunWatched, kind: str) -> None:
    watched = run_watched(PROGRAM, kind, mode="prod")
    assert watched.status == 0, watched.stderr
    (done,) = watched.report["actions"]
    assert (done["action"], done["step"]) == ("roll-back", SPOILED)
    states = [line.split()[2] for line in watched.stdout.splitlines() if line.startswith("state ")]
    (snapshot,) = re.findall(r"the state of step (\d+) was put back", done["reason"])
    assert states[SPOILED] == states[int(snapshot) - 1], "weights, buffers and moments"
    assert len(set(states)) == len(states) - 1, "and training went on from there"
