"""The demo stops both runs, names what was planted, and ends with status 0."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_names_operator_line_and_sample_of_both_faults(tmp_path: Path) -> None:
    environ = {**os.environ, "DEMO_RUNS": str(tmp_path / "demo"), "DEBUG_TRACER_STRICT": "1"}
    done = subprocess.run(
        ["bash", "scripts/demo.sh"], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    verdicts = done.stdout.partition("== two verdicts\n")[2]
    assert "demo/charlm.py:42  aten::_softmax  sample 1666" in verdicts
    assert "demo/digits.py:20  aten::div  sample 1203" in verdicts
    assert verdicts.count(str(tmp_path)) == 2
