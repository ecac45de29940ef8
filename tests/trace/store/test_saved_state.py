"""Which states of a run can be gone on from, from their bytes alone."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from debugtracer.errors import DebugTracerError
from debugtracer.trace.store.saved_state import FOLDER, checked, newest, usable


def put(run: Path, name: str, content: bytes) -> str:
    (run / FOLDER).mkdir(exist_ok=True)
    (run / FOLDER / name).write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def sums(run: Path, rank: int, newest: tuple[int, str], older: tuple[int, str] | None = None) -> None:
    told: dict[str, object] = {"step": newest[0], "iteration": newest[0], "sha256": newest[1]}
    if older is not None:
        told["older"] = {"step": older[0], "iteration": older[0], "sha256": older[1]}
    (run / FOLDER / f"rank-{rank}.json").write_text(json.dumps(told))


def test_the_newest_whole_state_is_taken(tmp_path: Path) -> None:
    old, new = put(tmp_path, "rank-0.older.pt", b"old"), put(tmp_path, "rank-0.pt", b"new")
    sums(tmp_path, 0, (9, new), (5, old))
    step, (state,), problems = newest(tmp_path)
    assert (step, state.path.name, problems) == (9, "rank-0.pt", [])
    put(tmp_path, "rank-0.pt", b"bad")
    step, (state,), (problem,) = newest(tmp_path)
    assert (step, state.path.name) == (5, "rank-0.older.pt") and "damaged" in problem


def test_a_state_that_was_about_to_be_replaced_is_still_known(tmp_path: Path) -> None:
    """Killed after the sums were written and before the files have moved."""
    old = put(tmp_path, "rank-0.pt", b"old")
    sums(tmp_path, 0, (9, "0" * 64), (5, old))
    assert checked(tmp_path / FOLDER / "rank-0.pt").step == 5
    put(tmp_path, "rank-0.older.pt", b"the one before it, which nobody needs any more")
    step, (state,), problems = newest(tmp_path)
    assert (step, state.path.name, problems) == (5, "rank-0.pt", [])


def test_between_the_two_moves_the_older_one_stands_alone(tmp_path: Path) -> None:
    old = put(tmp_path, "rank-0.older.pt", b"old")
    put(tmp_path, "rank-0.part", b"new")
    sums(tmp_path, 0, (9, "0" * 64), (5, old))
    step, (state,), problems = newest(tmp_path)
    assert (step, state.path.name, problems) == (5, "rank-0.older.pt", [])


def test_ranks_go_on_from_a_step_that_all_have(tmp_path: Path) -> None:
    for rank, steps in {0: (9, 5), 1: (5, 1)}.items():
        new, old = (
            put(tmp_path, f"rank-{rank}.pt", b"n%d" % rank),
            put(tmp_path, f"rank-{rank}.older.pt", b"o%d" % rank),
        )
        sums(tmp_path, rank, (steps[0], new), (steps[1], old))
    step, states, _ = newest(tmp_path)
    assert step == 5 and [(s.rank, s.path.name) for s in states] == [(0, "rank-0.older.pt"), (1, "rank-1.pt")]
    sums(tmp_path, 1, (4, new), (1, old))
    with pytest.raises(DebugTracerError, match="none of the same step"):
        newest(tmp_path)


def test_files_without_their_sums_are_not_used(tmp_path: Path) -> None:
    put(tmp_path, "rank-0.pt", b"new")
    states, (problem,) = usable(tmp_path / FOLDER)
    assert states == {0: []} and "expected its sums beside it" in problem
