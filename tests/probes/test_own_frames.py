"""The traceback of a program that dies is its own."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from debugtracer.probes.own_frames import hide

FAULTS = Path(__file__).resolve().parents[2] / "faults"


@pytest.mark.parametrize("slug", ["data/rare_defect", "model/rescaled_activations", "rollback/wrapped_weights"])
def test_it_reads_as_it_would_without_us(run_watched, slug):
    script = FAULTS / slug / "train.py"
    alone = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    watched = run_watched(script)
    assert watched.status == alone.returncode == 1
    assert watched.stderr.startswith(alone.stderr)
    assert watched.report["verdict"]["symptom"] == "crash"
    assert sum(line.startswith("debug-tracer: error:") for line in watched.stderr.splitlines()) == 1


def test_chained_exceptions_and_none_are_fine_and_a_users_traceback_is_left_alone():
    hide(None)
    with pytest.raises(ValueError, match="outer") as raised:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner
    before = traceback.format_exception(raised.value)
    hide(raised.value)
    assert traceback.format_exception(raised.value) == before
