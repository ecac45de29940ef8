"""Shared by all tests: failures of ours are raised, one thread, whole programs run under watch, and the shared cases
where they exist."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

os.environ["DEBUG_TRACER_STRICT"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from tests import forked
from tests.faults.every import SWEEP
from tests.faults.scoring import part

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {"end_to_end", "faults", "frameworks", "torture"}


@dataclass(frozen=True)
class Watched:
    """A program that ran under `debug-tracer run`."""

    status: int
    stdout: str
    stderr: str
    run: Path
    report: dict[str, Any] = field(default_factory=dict)


class RunWatched(Protocol):
    """The fixture `run_watched`."""

    def __call__(
        self, script: Path | str, *args: str, mode: str = "dev", cwd: Path | None = None, timeout_s: float = 400.0
    ) -> Watched: ...


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Cheap things first: what runs whole programs comes after what does not; what is left to the sweep is left out."""
    left = [] if SWEEP else [item for item in items if item.get_closest_marker("sweep")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]
    items.sort(
        key=lambda item: (
            item.path.relative_to(ROOT / "tests").parts[0] in PROGRAMS
            if item.path.is_relative_to(ROOT / "tests")
            else False
        )
    )


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported is never garbage: no collection looks through it, now or in a test."""
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _distributions_validate() -> None:
    """Distributions check their arguments, as in a new process: torch.compile of an earlier test lets them not."""
    known = sys.modules.get("torch.distributions.distribution")
    if known is not None:
        known.Distribution.set_default_validate_args(True)


@pytest.fixture(autouse=True)
def _nothing_was_compiled() -> None:
    """Dynamo knows of nothing that an earlier test compiled, as in a new process."""
    known = sys.modules.get("torch._dynamo.eval_frame")
    if known is not None:
        known._reset_guarded_backend_cache()


@pytest.fixture(scope="session")
def programs() -> forked.Programs:
    """The words that start a program or a command of ours without importing torch again (tests/forked)."""
    return forked.programs()


@pytest.fixture
def run_watched(tmp_path: Path, programs: forked.Programs) -> RunWatched:
    """Runs a script under watch in a fresh run folder and reads its JSON report."""

    def run(
        script: Path | str, *args: str, mode: str = "dev", cwd: Path | None = None, timeout_s: float = 400.0
    ) -> Watched:
        out = tmp_path / "runs"
        command = [*programs.tool, "run", "--out", str(out), "--mode", mode, str(script), *args]
        done = subprocess.run(
            command, cwd=cwd or tmp_path, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        run_folder = (out / "latest").resolve()
        return Watched(done.returncode, done.stdout, done.stderr, run_folder, report_of(run_folder, programs))

    return run


def report_of(run: Path, programs: forked.Programs) -> dict[str, Any]:
    """The JSON report of a run folder; empty when there is none to read."""
    told = subprocess.run(
        [*programs.tool, "report", str(run), "--format", "json"], capture_output=True, text=True, check=False
    )
    return dict(json.loads(told.stdout)) if told.returncode == 0 else {}


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """The folder of shared cases; without it tests skip, and under CI=true they fail."""
    cases: Path = part("case_tests").CASES
    if not cases.is_dir():
        missing = f"{cases} is missing: the shared cases are not judged"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return cases
