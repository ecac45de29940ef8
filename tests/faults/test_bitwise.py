"""The same training with and without us: losses, weights, moments and random generators, to the last bit.

Four bugs (docs/rationale/replay.md#four-bugs) and a script of each layer and mechanism run on every commit; all
of them (planted faults, healthy twins, cases) in `just sweep`.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.faults.bitwise import ROOT, Trail, execute
from tests.faults.every import SWEEP
from tests.faults.scoring import part
from tests.forked import Programs

CASES = part("case_tests").CASES
PEERS = ["masked_attention", "fp16_scores", "log0_entropy", "sqrt0_norm"]
OTHERS = (
    *(
        "data/missing_cell_workers/healthy.py",
        "model/validation_each_epoch/train.py",
        "optimizer/sudden_gradient/train.py",
        "device/ddp_plain_loader/train.py",
    ),
    *(
        "numerics/fp16_scaler_empty_mask/healthy.py",
        "numerics/checkpoint_reentrant/train.py",
        "logging/calm_norm/train.py",
        "rollback/weights_and_step/healthy.py",
    ),
    *("data/rain_gauges/train.py", "model/reservoir_outlook/train.py"),
)
"""Each layer; a dataset that is asked again, generators that trials of an evaluation seed;
workers, a second model in evaluation, ranks, a scaler, checkpointing, a jump of the loss, a resume."""
NASTY = ROOT / "healthy"
HEALTHY = ("accumulation", "amp_calibration", "gan", "tiny_batch_bn")
"""Programs that must stay quiet: a window of several batches, a search for the scale, two optimizers, batch norm."""
MODES = ("observe", "dev", "val", "prod") if SWEEP else ("val", "prod")
EXACT = {"nan_loss", "inf_grad"}
STARTS_PROCESSES = ("mp.spawn", "mp.start_processes")


def everything() -> list[Path]:
    planted = [
        folder / name for folder in sorted((ROOT / "faults").glob("*/*/")) for name in ("train.py", "healthy.py")
    ]
    return planted + sorted(CASES.glob("*/train.py"))


def chosen() -> list[Path]:
    always = [ROOT / "faults" / "numerics" / slug / "train.py" for slug in (PEERS if SWEEP else PEERS[:2])]
    return always + (
        [script for script in everything() if script not in always]
        if SWEEP
        else [ROOT / "faults" / name for name in OTHERS]
    )


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
    assert watched.losses == bare.losses, (
        f"losses differ from backward {first_difference(bare.losses, watched.losses)} on\n{watched.stderr}"
    )
    assert watched.weights == bare.weights, f"final weights or moments differ\n{watched.stderr}"
    assert watched.generators == bare.generators, f"a random generator was moved\n{watched.stderr}"


def first_difference(a: list[str], b: list[str]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@pytest.mark.skipif(
    not CASES.exists() and os.environ.get("CI") != "true", reason=f"{CASES} is missing: the cases are not compared"
)
def test_the_cases_are_there() -> None:
    assert CASES.exists(), f"{CASES} is missing"


@pytest.mark.parametrize("script", chosen(), ids=name_of)
def test_watching_changes_no_bit(script: Path, stage: Path, programs: Programs) -> None:
    copy = staged(script, stage)
    bare, observed = execute(copy, stage, None, programs), execute(copy, stage, "observe", programs)
    assert bare.losses or any(word in copy.read_text() for word in STARTS_PROCESSES)
    assert_the_same(bare, observed)
    assert observed.status == bare.status, observed.stderr
    if any(word in copy.read_text() for word in STARTS_PROCESSES):
        assert observed.stdout == bare.stdout

    if truth_of(script)["class"] == "healthy":
        prod = execute(copy, stage, "prod", programs)
        assert_the_same(bare, prod)
        assert prod.status == bare.status, prod.stderr

    dev = execute(copy, stage, "dev", programs)
    assert dev.losses == bare.losses[: len(dev.losses)], (
        f"losses differ from backward {first_difference(bare.losses, dev.losses)} on\n{dev.stderr}"
    )
    truth = truth_of(script)
    if truth["class"] == "healthy":
        assert_the_same(bare, dev)
    elif truth["symptom"] in EXACT:
        first_bad = truth["first_bad_step"]
        assert isinstance(first_bad, int)
        assert len(dev.losses) >= min(first_bad, len(bare.losses)), (
            f"dev stopped after {len(dev.losses)} backward calls, before {first_bad}\n{dev.stderr}"
        )


@pytest.mark.parametrize("name", sorted(p.stem for p in NASTY.glob("*.py")) if SWEEP else HEALTHY)
def test_a_healthy_program_is_the_same_where_bad_steps_are_answered(name: str, stage: Path, programs: Programs) -> None:
    script = NASTY / f"{name}.py"
    bare = execute(script, stage, None, programs)
    assert bare.losses
    for mode in MODES:
        acting = execute(script, stage, mode, programs)
        assert_the_same(bare, acting)
        assert acting.status == bare.status, (mode, acting.stderr)
        assert "action" not in acting.stderr and "left out" not in acting.stderr
