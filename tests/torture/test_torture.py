"""Odd programs behave exactly as without us: the same stdout, the same exit status, and our words only after theirs on
stderr."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.faults.every import SWEEP
from tests.forked import Programs

ROOT = Path(__file__).resolve().parents[2]
LONG = ("spawned_children", "left_open", "policy_compiled")
"""They start processes from nothing or compile: only in the sweep, `forked_children` stands for them on a commit."""
PROGRAMS = [
    path for path in sorted((Path(__file__).parent / "programs").glob("*.py")) if SWEEP or path.stem not in LONG
]

KNOWN = {
    "freed_in_time": (
        "the last step's tape keeps the last loss, and a model's weights and moments live until the next optimizer is "
        "built"
    ),
    "own_modes": "a program that asks for the function mode on top of the stack is given ours",
    "tensor_subclass_weights": "a wrapper subclass with __torch_dispatch__ sees our reads",
}
"""What we have not mended: the program notices, and how."""


def run(
    script: Path, work: Path, programs: Programs, watched: bool, mode: str = "observe"
) -> subprocess.CompletedProcess[str]:
    env = dict(
        os.environ,
        PYTHONPATH=str(ROOT / "src"),
        OMP_NUM_THREADS="1",
        DEBUG_TRACER_STRICT="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONHASHSEED="0",
    )
    start = [*programs.tool, "run", "--out", str(work / "runs"), "--mode", mode] if watched else programs.python
    words = [*start, str(script), "--lr", "0.1", "--name", "mine"]
    return subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, timeout=400, input="typed")


def marked(script: Path) -> object:
    return pytest.param(
        script,
        id=script.stem,
        marks=pytest.mark.xfail(strict=True, reason=KNOWN[script.stem]) if script.stem in KNOWN else (),
    )


@pytest.mark.parametrize("script", [marked(script) for script in PROGRAMS])
def test_the_program_does_not_notice(script: Path, tmp_path: Path, programs: Programs) -> None:
    bare, watched = run(script, tmp_path, programs, False), run(script, tmp_path, programs, True)
    assert bare.stdout, bare.stderr
    assert watched.stdout == bare.stdout, watched.stderr
    assert watched.returncode == bare.returncode, watched.stderr
    assert "debugtracer" not in watched.stderr, "a traceback of ours reached the user"
    last_words = bare.stderr.strip().splitlines()[-1:]
    assert all(line in watched.stderr for line in last_words), "the program's own last words on stderr are missing"


@pytest.mark.sweep
@pytest.mark.parametrize("script", [path for path in PROGRAMS if path.stem not in KNOWN], ids=lambda path: path.stem)
def test_nothing_is_done_about_an_odd_program(script: Path, tmp_path: Path, programs: Programs) -> None:
    bare = run(script, tmp_path, programs, False)
    for mode in ("dev", "val", "prod"):
        acting = run(script, tmp_path, programs, True, mode)
        assert acting.stdout == bare.stdout, (mode, acting.stderr)
        assert acting.returncode == bare.returncode, (mode, acting.stderr)
        found = (tmp_path / "runs").rglob("events.jsonl")
        events = [json.loads(line) for file in found for line in file.read_text().splitlines()]
        assert [event["action"] for event in events if event["type"] == "acted"] == [], mode
