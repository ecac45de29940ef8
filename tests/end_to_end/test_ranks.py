"""Two real ranks under the command: judged together when they are done, sealed when they were killed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from debugtracer.trace.events import Found
from debugtracer.trace.store.reader import open_trace
from tests.forked import programs

ROOT = Path(__file__).resolve().parents[2]


def run(program: Path, work: Path) -> list[Found]:
    shutil.copy(program, work / "train.py")
    env = dict(os.environ, PYTHONPATH=str(ROOT / "src"), OMP_NUM_THREADS="1", DEBUG_TRACER_STRICT="1")
    words = [*programs().tool, "run", "--out", "runs", "--mode", "observe", "train.py"]
    done = subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, timeout=850)
    assert done.returncode == 0, done.stderr
    return [event for event in open_trace(work / "runs").events(0) if isinstance(event, Found)]


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("ddp_plain_loader", "device/rank-overlap"),
        ("ddp_inner_module", "device/replica-drift"),
        ("sharded_wells", "device/rank-overlap"),
        ("averaged_by_hand", "device/rank-overlap"),
    ],
)
def test_a_fault_of_two_ranks_is_found_and_its_twin_is_not(fault, check, tmp_path):
    (tmp_path / "twin").mkdir()
    folder = ROOT / "faults" / "device" / fault
    loud = [event.finding for event in run(folder / "train.py", tmp_path) if event.finding.severity == "error"]
    assert [finding.check for finding in loud] == [check]
    assert [
        event.finding for event in run(folder / "healthy.py", tmp_path / "twin") if event.finding.severity != "note"
    ] == []


def test_padded_shards_accumulation_and_averages_are_healthy(tmp_path):
    found = run(Path(__file__).with_name("two_ranks.py"), tmp_path)
    assert [event.finding.message for event in found if event.finding.severity != "note"] == []
    assert len(open_trace(tmp_path / "runs").ranks) == 2
