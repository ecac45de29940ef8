"""The benchmark beside busy processes: its line says the ratio of medians, and it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from benchmarks import beside_others


def test_a_line_tells_the_medians_and_their_ratio() -> None:
    line = beside_others.told(1, 2, {"bare": [4.0, 5.0, 90.0], "watched": [10.0, 9.0, 400.0]})
    assert line == "1 busy, 2 threads: bare 5.0 ms, watched 10.0 ms, 2.00 times (3 rounds of 10 steps)"


def test_it_runs() -> None:
    words = [sys.executable, beside_others.__file__, "--busy", "0", "--seconds", "0.1"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.startswith("0 busy, "), done.stderr
    assert done.returncode == 0
