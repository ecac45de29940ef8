"""The kernels of the gate: by Triton's interpreter beside torch's operators, and compiled for GPUs that are not there.

scripts/setup.sh puts Triton beside the environment, in .venv/triton: inside it torch would look at it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.devices.ran import ROOT, TRITON, inherited

HERE = Path(__file__).parent
EXACT = ("loss", "loss nan", "nan", "inf", "half inf")
OVERFLOWING = {"largest": 3e38, "double": 4.2593674659729e200}

beside = pytest.mark.skipif(
    not (TRITON / "triton").is_dir(), reason="needs Triton in .venv/triton (scripts/setup.sh test)"
)


def said_by(program: str, work: Path, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "programs" / program)],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *inherited(), str(TRITON)]),
            "TRITON_CACHE_DIR": str(work),
            "DEBUG_TRACER_STRICT": "1",
        }
        | environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@beside
def test_the_kernels_say_what_torch_says(tmp_path: Path) -> None:
    says_what_torch_says(said_by("measures.py", tmp_path, TRITON_INTERPRET="1"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_kernels_say_what_torch_says_on_a_gpu(tmp_path: Path) -> None:
    says_what_torch_says(said_by("measures.py", tmp_path, PLACE="cuda"))


def says_what_torch_says(said: dict[str, Any]) -> None:
    assert said.pop("nothing") == [True, True, False] and said.pop("l2") == [5.0]
    assert len(said) == 20
    for name, (ours, theirs, again) in said.items():
        assert str(ours) == str(again), name
        assert str(ours[1:]) == str(theirs[1:]), name
        if name in OVERFLOWING:  # squares beyond the dtype of values that are finite
            assert theirs[0] == math.inf and ours[0] == pytest.approx(OVERFLOWING[name], rel=1e-6)
        elif name in EXACT:
            assert math.isfinite(ours[0]) == math.isfinite(theirs[0])
        else:
            assert ours[0] == pytest.approx(theirs[0], rel=1e-5), name  # torch sums halves coarsely


@beside
def test_both_compile_for_gpus_and_read_widely_what_is_aligned(tmp_path: Path) -> None:
    said = said_by("compiles.py", tmp_path)
    assert len(said) == 12 and all(kernel["bytes"] > 1000 for kernel in said.values())
    assert [name for name, kernel in said.items() if kernel["wide"]] == [
        f"{kind} {capability}" for capability in (80, 90) for kind in ("float32", "float16", "bfloat16")
    ]
