"""Programs of this folder, run bare and watched in processes of their own, and what is told of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TRITON = Path(sys.prefix) / "triton"


def ran(
    name: str, work: Path, *words: str, ours: tuple[str, ...] = (), beside: tuple[Path, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program; with words of ours it is watched, its run folders in `work/runs`."""
    env = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([*map(str, (ROOT / "src", HERE, *beside)), *inherited()]),
        OMP_NUM_THREADS="1",
        DEBUG_TRACER_STRICT="1",
        **environment,
    )
    watch = ["-m", "debugtracer", "run", "--out", str(work / "runs"), *ours] if ours else []
    return subprocess.run(
        [sys.executable, *watch, str(HERE / "programs" / f"{name}.py"), *words],
        cwd=work,
        env=env,
        capture_output=True,
        text=True,
        timeout=400,
    )


def told(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command of ours in a process that trains nothing."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "src"), *inherited()]), **environment)
    return subprocess.run(
        [sys.executable, "-m", "debugtracer", *words], env=env, capture_output=True, text=True, timeout=200
    )


def inherited() -> list[str]:
    """What stands on the path of this process by its environment."""
    return [word for word in os.environ.get("PYTHONPATH", "").split(os.pathsep) if word]


def judged_as_by_torch(told: dict[str, Any]) -> None:
    """What judged_by_kernels says: the kernels ran, and gave the alarms and the numbers that torch's operators give."""
    (alarms, points), (expected, values) = told["said"]
    assert not told["off"] and told["lists"] == 1
    assert alarms == expected == [["nan_loss", 4]]
    assert len(points) == len(values) > 4
    for ours, theirs in zip(points, values, strict=True):
        assert ours == [pytest.approx(value, rel=1e-5, nan_ok=True) for value in theirs]
