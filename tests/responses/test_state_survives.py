"""Whatever happens while a state is saved or put back (kill -9, a full disk), the last good one on disk still loads."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import LastGood, verified
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.finite import all_finite
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.saved_state import newest
from tests.conftest import ROOT
from tests.forked import Programs

PROGRAM = Path(__file__).parent / "programs" / "saving.py"
INSIDE = PROGRAM.with_name("killed_inside.py")
OFTEN = {"DEBUG_TRACER_LAST_GOOD_S": "0.000001", "DEBUG_TRACER_COST": "1"}
KILLS = 10 if os.environ.get("DEBUG_TRACER_ALL") else 3  # 50 and more: benchmarks/kills.py
LONGEST_S = 0.8  # seconds after the first state, within which it is killed: some dozen states, a roll-back


def words(programs: Programs, *more: str) -> list[str]:
    return [*programs.tool, "run", "--mode", "prod", "--out", "runs", str(PROGRAM), *more]


def state_of(run: Path) -> tuple[int, int]:
    """The step of the newest whole state, which loads and is finite, and how many files are damaged."""
    step, (saved,), problems = newest(run)
    loaded = verified(saved.path)
    assert loaded["step"] == step
    weights = loaded["models"][0]["state"].values()
    moments = [v for state in loaded["optimizers"][0]["state"]["state"].values() for v in state.values()]
    assert all_finite([*weights, *moments]) and len(loaded["loaders"]) == 1
    return step, len(problems)


def first_state(folder: Path, running: subprocess.Popen[str]) -> Path:
    """The run, once it has a state."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        try:
            run = (folder / "runs" / "latest").resolve()
            newest(run)
            return run
        except DebugTracerError:
            time.sleep(0.01)
    raise AssertionError(f"no state was saved: {running.communicate()[1]}")


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_at_any_moment(tmp_path: Path, programs: Programs, seed: int) -> None:
    with subprocess.Popen(
        words(programs),
        cwd=tmp_path,
        env=os.environ | OFTEN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        run = first_state(tmp_path, running)
        time.sleep(random.Random(seed).uniform(0, LONGEST_S))
        ended = False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:  # a slow machine: it had stopped by itself, at its second bad update
            ended = True
        running.communicate(timeout=60)
        assert running.returncode == (3 if ended else 137)
    step, damaged = state_of(run)
    assert step >= 1 and damaged <= 1
    assert open_trace(run).events()


@pytest.mark.sweep
@pytest.mark.parametrize("place", ["state/step_history:go_back", "responses/responder:answered"])
def test_killed_inside_of_a_response(tmp_path: Path, programs: Programs, place: str) -> None:
    watched = [*programs.tool, "run", "--mode", "prod", "--out", "runs", str(INSIDE), place, "1"]
    environment = os.environ | OFTEN | {"DEBUG_TRACER_LAST_GOOD_S": "0.2"}
    done = subprocess.run(
        watched, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 137 and done.stdout.splitlines()[-1].startswith("killed in "), done.stderr
    run = (tmp_path / "runs" / "latest").resolve()
    assert state_of(run)[0] >= 1 and open_trace(run).events()


def test_a_full_disk_leaves_the_last_state_and_the_training(tmp_path: Path, programs: Programs) -> None:
    done = subprocess.run(
        words(programs, "full"),
        cwd=tmp_path,
        env=os.environ | OFTEN,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("ended"), done.stderr
    assert done.stderr.count("the last good state was not saved") == 1
    run = (tmp_path / "runs" / "latest").resolve()
    step, _ = state_of(run)
    assert 1 <= step <= 20
    assert not list((run / "last-good").glob("*.part*"))


AS_NOBODY = [
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all,+dac_read_search"),
    *("--ambient-caps=-all,+dac_read_search", "--bounding-set=-all,+dac_read_search", "env", "HOME=/tmp"),
]
"""Root may write into what is closed to others; this user may read what root may, and write what is its own."""


def ended(folder: Path, programs: Programs) -> str:
    """What the program prints at its end without us."""
    bare = [*programs.python, str(PROGRAM), "small"]
    done = subprocess.run(bare, cwd=folder, capture_output=True, text=True, check=True, timeout=200)
    return done.stdout.splitlines()[-1]


@pytest.mark.sweep
@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write everywhere")
def test_a_run_folder_that_is_closed_leaves_the_last_state_and_the_training(tmp_path: Path, programs: Programs) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    watched = [sys.executable, "-m", "debugtracer", "run", "--mode", "prod", "--out", "runs", str(PROGRAM), "closed"]
    if os.geteuid() == 0:
        os.chown(work, 65534, 65534)
        watched = [*AS_NOBODY, *watched]
    environment = os.environ | OFTEN | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(watched, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == ended(tmp_path, programs)
    assert done.stderr.count("the last good state was not saved") == 1
    assert done.stderr.count("the trace ends here, training goes on") == 1 and "Traceback" not in done.stderr
    run = (work / "runs" / "latest").resolve()
    assert 1 <= state_of(run)[0] <= 21
    (run / "rank=0").chmod(0o755)


@pytest.mark.sweep
def test_a_disk_that_holds_two_states_and_no_third_leaves_them_and_the_training(
    tmp_path: Path, programs: Programs
) -> None:
    disk = tmp_path / "runs"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        done = subprocess.run(
            words(programs, "small"),
            cwd=tmp_path,
            env=os.environ | OFTEN,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == ended(tmp_path, programs)
        assert done.stderr.count("the last good state was not saved") == 1 and "Traceback" not in done.stderr
        assert state_of((disk / "latest").resolve())[0] >= 1
    finally:
        subprocess.run(["umount", disk], check=False)


def test_what_cannot_be_written_leaves_what_is_there(tmp_path: Path) -> None:
    """A file is in the way of the one that is written first."""
    model, state = torch.nn.Linear(2, 2), RunState()
    state.roots.add(model, None)
    state.step = 3
    LastGood(state).write(tmp_path, 0, [])
    (tmp_path / "last-good" / "rank-0.part").mkdir()
    state.step = 4
    with pytest.raises(DebugTracerError, match="could not be written"):
        LastGood(state).write(tmp_path, 0, [])
    assert newest(tmp_path)[0] == 3
