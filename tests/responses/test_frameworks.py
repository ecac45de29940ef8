"""Inside a framework's loop a bad batch leaves nothing behind either."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import RunWatched
from tests.forked import Programs

PROGRAM = Path(__file__).parent / "programs" / "lightning_loop.py"


def left(stdout: str) -> str:
    return next(line for line in stdout.splitlines() if line.startswith("left "))


def test_lightning_goes_on_bitwise_as_without_the_batch(
    run_watched: RunWatched, programs: Programs, tmp_path: Path
) -> None:
    watched = run_watched(PROGRAM, mode="prod")
    twin = subprocess.run(
        [*programs.python, str(PROGRAM), "passes"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert watched.status == 0, watched.stderr
    done, learned = watched.report["actions"]
    assert (learned["action"], learned["samples"]) == ("skip-sample", [37])
    assert (done["action"], done["step"]) == ("skip-update", 4)
    assert done["samples"] == list(range(32, 40))  # Lightning has fetched the next batch by then
    assert left(watched.stdout) == left(twin.stdout)
