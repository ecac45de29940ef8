"""A segment is sealed by a short process beside training: pyarrow and its 28 MB never come into the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PATIENCE_S = 120.0  # seconds a segment of 8 MB may take on a machine that is full; it takes one


def seal_aside(folder: Path, number: int, run_bytes: int) -> bool:
    """Seal a live segment in a process of its own and wait for it; False where that cannot be done. Raises nothing."""
    if not sys.executable:
        return False
    words = [sys.executable, "-m", __name__, str(folder.absolute()), str(number), str(run_bytes)]
    unwatched = {name: value for name, value in os.environ.items() if not name.startswith("DEBUG_TRACER")}
    try:
        # in our own folder, where no module of the program stands in the way; Ctrl-C is not for it
        done = subprocess.run(
            words, cwd=folder, env=unwatched | {"OMP_NUM_THREADS": "1"}, timeout=PATIENCE_S, start_new_session=True,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    from debugtracer.trace.store.series.thin import seal_within

    seal_within(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
