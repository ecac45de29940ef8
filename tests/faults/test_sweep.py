"""The long sweep names files that exist, and what a commit runs is the same on every day and in every layer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.faults.every import SWEEP, fixed, spread
from tests.faults.scoring import ROOT, part
from tests.faults.test_bitwise import OTHERS
from tests.faults.test_verdicts import COMMIT, FAULTS, HEALTHY, PACED, PROGRAMS, QUICK, TWINS

sweep = part("sweep")


@pytest.mark.parametrize("words", sweep.PARTS.values(), ids=sweep.PARTS)
def test_a_part_runs_files_that_exist(words: list[str]) -> None:
    files = [word for word in words if word.startswith(("tests/", "scripts/"))]
    assert files
    assert [word for word in files if not (ROOT / word).exists()] == []


def test_what_is_marked_for_the_sweep_is_in_a_part() -> None:
    places = [ROOT / word for words in sweep.PARTS.values() for word in words if word.startswith("tests/")]
    marked = [f for f in (ROOT / "tests").rglob("test_*.py") if "pytest.mark." + "sweep" in f.read_text()]
    assert len(marked) > 5
    assert [f for f in marked if not any(f.is_relative_to(place) for place in places)] == []


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/sweep.py", "--only", "nothing"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no such part: nothing; there are bitwise, verdicts," in done.stderr


def test_what_a_commit_runs_covers_every_layer() -> None:
    layers = {folder.name for folder in (ROOT / "faults").iterdir() if folder.is_dir() and folder.name != "programs"}
    assert len(FAULTS) > 150
    for names in (FAULTS, COMMIT, TWINS, OTHERS):
        assert {name.partition("/")[0] for name in names} == layers
    assert [name for name in OTHERS if not (ROOT / "faults" / name).exists()] == []
    assert [name for name in HEALTHY if not (ROOT / "healthy" / f"{name}.py").exists()] == []


def test_what_a_commit_names_is_there() -> None:
    assert set(FAULTS) >= PACED
    assert {name.partition("/")[0] for name in PROGRAMS} >= set(QUICK)


def test_the_fixed_part_does_not_move_when_a_name_comes_or_goes() -> None:
    names = [f"layer/{n}" for n in range(300)]
    part_of = fixed(names, 3, ["layer/7"])
    assert "layer/7" in part_of
    assert SWEEP or 70 < len(part_of) < 130
    assert fixed(names[50:], 3, ["layer/7"]) == [name for name in part_of if name in names[50:]]


def test_two_of_each_layer_are_spread_over_it() -> None:
    assert spread(["a/1", "a/2", "a/3", "a/4", "b/1"]) == ["a/1", "a/3", "b/1"]
