"""Ranks with unlike numbers of batches: under Join nothing changes; left to wait, the verdict names what each rank
stands in, at its end and while it hangs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.forked import programs
from tests.frameworks.test_frameworks import PROGRAMS, ROOT, assert_the_same

UNEVEN = PROGRAMS / "torchrun_uneven.py"
ENVIRONMENT = dict(os.environ, PYTHONPATH=str(ROOT / "src"), OMP_NUM_THREADS="1", DEBUG_TRACER_STRICT="1")


def line_of(words: str) -> int:
    return next(n for n, text in enumerate(UNEVEN.read_text().splitlines(), 1) if text.endswith(f"# {words}"))


def watched(work: Path, *words: str, program: Path = UNEVEN) -> subprocess.Popen[str]:
    command = [*programs().tool, "run", "--out", str(work / "runs"), *programs().launcher, str(program), *words]
    return subprocess.Popen(
        command, cwd=work, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def report(work: Path, *options: str) -> dict:
    command = [*programs().tool, "report", str(work / "runs"), "--format", "json", *options]
    done = subprocess.run(command, cwd=work, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.sweep
def test_under_join_the_program_does_not_notice(tmp_path):
    assert_the_same([*programs().launcher, str(UNEVEN), "join", "60"], tmp_path)


def test_an_abort_in_native_code_is_told_with_the_line_of_each_rank(tmp_path):
    done = watched(tmp_path, "reduce", "60")
    said = done.communicate(timeout=200)[1]
    assert done.returncode == 1, said
    verdict = report(tmp_path)["verdict"]
    assert (verdict["class"], verdict["status"]) == ("ddp_desync", "confirmed")
    assert f"rank 0 stands in backward at torchrun_uneven.py:{line_of('rank 0 waits here')}" in verdict["summary"]
    assert f"rank 1 in all_reduce at torchrun_uneven.py:{line_of('rank 1 is here')}" in verdict["summary"]
    assert (Path(verdict["file"]).name, verdict["line"]) == (UNEVEN.name, line_of("rank 1 is here"))


@pytest.mark.sweep
def test_a_hang_is_told_while_it_lasts_and_after_the_timeout(tmp_path):
    hung = watched(tmp_path, "idle", "30")
    try:
        deadline = time.monotonic() + 60
        while not any("== waits" in f.read_text() for f in tmp_path.glob("runs/2*/rank=0/last-words.txt")):
            assert time.monotonic() < deadline and hung.poll() is None
            time.sleep(0.5)
        assert "backward at torchrun_uneven.py" in told(report(tmp_path, "--recheck"))
    finally:
        said = hung.communicate(timeout=200)[1]
    assert hung.returncode == 1, said
    verdict = report(tmp_path)["verdict"]
    assert (verdict["class"], verdict["line"], verdict["symptom_line"]) == (
        "ddp_desync",
        line_of("rank 1 does something else"),
        line_of("rank 0 waits here"),
    )


def told(shown: dict) -> str:
    """What the check says in a report."""
    return " ".join(f["message"] for f in shown["findings"] if f["check"] == "device/collective-mismatch")
