"""The logs of real programs, made once per session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with NAME/log.txt for every program of the folder, run on the torch that is installed."""
    out = tmp_path_factory.mktemp("logs")
    done = subprocess.run(
        [sys.executable, str(HERE / "make_texts.py"), str(out)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out
