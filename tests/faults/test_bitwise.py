"""The same training with and without us: losses, weights, moments and random generators, to the last bit.

The four bugs of PEERS.md run every time; of the other scripts (planted faults, healthy twins, cases) a few, other ones each day.
DEBUG_TRACER_ALL=1 runs all of them; DEBUG_TRACER_SEED=N chooses another few.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import shutil
from pathlib import Path

import pytest

from tests.faults.bitwise import ROOT, Trail, execute

SHARED = Path(os.environ.get("DEBUG_TRACER_SHARED", ROOT.parent / "shared"))
PEERS = ["masked_attention", "fp16_scores", "log0_entropy", "sqrt0_norm"]
A_FEW = 6
EXACT = {"nan_loss", "inf_grad"}
STARTS_PROCESSES = ("mp.spawn", "mp.start_processes")


def everything() -> list[Path]:
    planted = [folder / name for folder in sorted((ROOT / "faults").glob("*/*/")) for name in ("train.py", "healthy.py")]
    return planted + sorted((SHARED / "cases").glob("*/train.py"))


def chosen() -> list[Path]:
    always = [ROOT / "faults" / "numerics" / slug / "train.py" for slug in PEERS]
    others = [script for script in everything() if script not in always]
    if os.environ.get("DEBUG_TRACER_ALL") == "1":
        return always + others
    seed = int(os.environ.get("DEBUG_TRACER_SEED", datetime.date.today().toordinal()))
    return always + random.Random(seed).sample(others, A_FEW)


def name_of(script: Path) -> str:
    return f"{script.parent.name}-{script.stem}"


def truth_of(script: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((script.parent / "truth.json").read_text())
    return {"class": "healthy", "symptom": "none"} if script.name == "healthy.py" else found


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def staged(script: Path, stage: Path) -> Path:
    """A copy of the script without its answer."""
    shutil.copytree(script.parent, stage / "script", ignore=shutil.ignore_patterns("truth.json", "__pycache__"))
    return stage / "script" / script.name


def assert_the_same(bare: Trail, watched: Trail) -> None:
    assert watched.losses == bare.losses, f"losses differ from backward {first_difference(bare.losses, watched.losses)} on\n{watched.stderr}"
    assert watched.weights == bare.weights, f"final weights or moments differ\n{watched.stderr}"
    assert watched.generators == bare.generators, f"a random generator was moved\n{watched.stderr}"


def first_difference(a: list[str], b: list[str]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@pytest.mark.skipif(not (SHARED / "cases").exists() and os.environ.get("CI") != "true", reason=f"{SHARED}/cases is missing: the cases are not compared")
def test_the_cases_are_there() -> None:
    assert (SHARED / "cases").exists(), f"{SHARED}/cases is missing"


@pytest.mark.parametrize("script", chosen(), ids=name_of)
def test_watching_changes_no_bit(script: Path, stage: Path) -> None:
    copy = staged(script, stage)
    bare, observed = execute(copy, stage, None), execute(copy, stage, "observe")
    assert bare.losses or any(word in copy.read_text() for word in STARTS_PROCESSES)
    assert_the_same(bare, observed)
    assert observed.status == bare.status, observed.stderr
    if any(word in copy.read_text() for word in STARTS_PROCESSES):
        assert observed.stdout == bare.stdout

    dev = execute(copy, stage, "dev")
    assert dev.losses == bare.losses[: len(dev.losses)], f"losses differ from backward {first_difference(bare.losses, dev.losses)} on\n{dev.stderr}"
    truth = truth_of(script)
    if truth["class"] == "healthy":
        assert_the_same(bare, dev)
    elif truth["symptom"] in EXACT:
        first_bad = truth["first_bad_step"]
        assert isinstance(first_bad, int)
        assert len(dev.losses) >= min(first_bad, len(bare.losses)), f"dev stopped after {len(dev.losses)} backward calls, before {first_bad}\n{dev.stderr}"
