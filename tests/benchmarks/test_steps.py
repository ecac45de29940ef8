"""The benchmark of steady steps: its ratios are paired, its table says what a kept file says, and it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from benchmarks import steps

OURS = {"ms": 1.0, "ratio": 2.0, "quartiles": [1.9, 2.1], "whole": 2.2, "process": 2.5}
BARE = {"ms": 0.5, "ratio": 1.0, "quartiles": [1.0, 1.0], "whole": 1.0, "process": 1.0}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    rows = {
        "mlp 2 ms": {"bare": BARE, "watched": OURS, "set_detect_anomaly": OURS | {"ratio": 1.4}},
        "gan 2 ms": {"bare": BARE, "watched": OURS, "watched, cost 1": OURS | {"ratio": 3.0}},
    }
    path = tmp_path / "2026-11-22-steps.json"
    result = {"date": "2026-11-22", "machine": "a processor", "rows": rows}
    path.write_text(json.dumps({"date": "2026-11-22", "commit": "aaaaaaa", "results": {"aaaaaaa": result}}))
    return path


def test_a_ratio_is_of_the_same_round_and_the_whole_counts_the_rare_dear_ones() -> None:
    bare = [(1.0, 1.0), (2.0, 2.0), (1.0, 1.0), (1.0, 1.0)]
    found = steps.figures([(1.1, 2.0), (2.2, 4.0), (1.1, 2.0), (6.6, 2.0)], bare)
    assert found["ratio"] == 1.1
    assert found["whole"] == 2.2
    assert found["process"] == 2.0
    assert found["ms"] == 1650


def test_the_table_has_a_row_for_each_loop_and_the_peers_where_they_were_measured(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert steps.main(["--table", str(kept)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "aaaaaaa, 2026-11-22, a processor"
    assert "| mlp 2 ms | 0.50 | 2.000 | 1.900 .. 2.100 | 2.200 | 2.500 | 0.500 | - | - |" in said
    assert "| gan 2 ms | 0.50 | 2.000 | 1.900 .. 2.100 | 2.200 | 2.500 | 0.500 | 3.00 | - |" in said
    assert said[said.index("| steps of | set_detect_anomaly |") + 2 :] == ["| mlp 2 ms | 1.40 |", ""]


def test_help_tells_what_is_measured() -> None:
    script = Path(steps.__file__)
    said = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True).stdout
    assert "--no-peers" in said
    assert "CPU time of the training thread" in said


def test_each_loop_trains_and_has_a_name_of_its_own() -> None:
    from benchmarks.step_loops import LOOPS

    assert len({loop.name for loop in LOOPS}) == len(LOOPS)
    for loop in LOOPS:
        if loop.ms <= 2:
            training = loop.make()
            before = [p.detach().clone() for p in training.model.parameters()]
            training.run(2)
            after = training.model.parameters()
            assert any(not bool((a == b).all()) for a, b in zip(after, before, strict=True)), loop.name
