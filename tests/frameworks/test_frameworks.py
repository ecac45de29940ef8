"""Programs of real frameworks print exactly the same numbers with and without us, and end with the same status."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.every import SWEEP
from tests.forked import programs

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
NEEDS = {
    "compiled_counts": "torch",
    "lightning_anomaly": "lightning",
    "lightning_manual": "lightning",
    "lightning_validated": "lightning",
    "trainer_evaluated": "transformers",
    "trainer_generating": "transformers",
    "trainer_preference": "transformers",
    "accelerate_accumulated": "accelerate",
}
COMMIT = ["accelerate_accumulated", "lightning_validated", "trainer_preference"]
RANKS = ["torchrun_gloo"]
MORE_RANKS = ["torchrun_fsdp2", "torchrun_fsdp1", "torchrun_tensor_parallel", "torchrun_pipeline"]
ABORTS = "terminate called without an active exception"


def run(words: list[str], work: Path, watched: bool) -> subprocess.CompletedProcess[str]:
    env = dict(
        os.environ,
        PYTHONPATH=str(ROOT / "src"),
        OMP_NUM_THREADS="1",
        DEBUG_TRACER_STRICT="1",
        PYTHONHASHSEED="0",
        HF_HUB_OFFLINE="1",
    )
    ours = [*programs().tool, "run", "--out", str(work / "runs"), "--mode", "observe"] if watched else []
    words = programs().python + words[1:] if not watched and words[1].endswith(".py") else words
    return subprocess.run([*ours, *words], cwd=work, env=env, capture_output=True, text=True, timeout=850)


def aborted(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a thread of gloo outlived its process group: it ends one bare program with flat shards in eight, after
    its last word."""
    return bool(done.returncode) and ABORTS in done.stderr


def bare_run(words: list[str], work: Path, aborts: bool) -> subprocess.CompletedProcess[str]:
    """The program without us, again until it aborts by itself, or until it does not; as often as that may take."""
    for _ in range(24 if aborts else 5):
        done = run(words, work, watched=False)
        if aborted(done) == aborts:
            break
    return done


def assert_the_same(words: list[str], tmp_path: Path) -> None:
    """The watched program runs once: an abort of it is gloo's own only if the bare one aborts too."""
    bare, watched = bare_run(words, tmp_path, aborts=False), run(words, tmp_path, watched=True)
    assert bare.returncode == 0, bare.stderr
    assert bare.stdout, bare.stderr
    assert watched.stdout == bare.stdout, watched.stderr
    if aborted(watched):
        bare = bare_run(words, tmp_path, aborts=True)
    assert watched.returncode == bare.returncode, watched.stderr


@pytest.mark.parametrize("name", sorted(NEEDS) if SWEEP else COMMIT)
def test_the_framework_does_not_notice(name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(NEEDS[name]) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{NEEDS[name]} is not installed")
    assert_the_same([sys.executable, str(PROGRAMS / f"{name}.py")], tmp_path)


@pytest.mark.parametrize("name", [*RANKS, *MORE_RANKS] if SWEEP else RANKS)
def test_two_ranks_under_torchrun_do_not_notice(name: str, tmp_path: Path) -> None:
    assert_the_same([*programs().launcher, str(PROGRAMS / f"{name}.py")], tmp_path)
