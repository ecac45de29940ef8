"""The share that is told beside the true one: its arithmetic, its table, its names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from benchmarks.step_loops import LOOPS

from benchmarks import told_share
from tests.watching import under_watch


def test_true_is_cpu_time_beyond_bare_and_told_is_of_wall_time() -> None:
    # of 2 s of CPU 1 was ours; clocks read 1 of 4 s of wall, the judge 0.2
    found = told_share.shares([1.0, 0.9, 2.0], [2.0, 1.8, 4.0], 1.0, 0.2, 1.6)
    assert (found["true"], found["thread"], found["clocks"], found["judge"]) == (50.0, 50.0, 25.0, 5.0)
    assert found["told"] == 40.0
    assert found["unseen"] == 1.8


def test_the_table_says_how_far_off_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"true": 40.0, "thread": 39.0, "told": 43.5, "clocks": 30.0, "judge": 1.5, "unseen": 1.28}
    result = {"date": "2026-11-23", "machine": "a processor", "rows": {"mlp 2 ms": row}}
    path = tmp_path / "2026-11-23-told-share.json"
    path.write_text(json.dumps({"results": {"aaaaaaa": result}}))
    assert told_share.main(["--table", str(path)]) == 0
    assert "| mlp 2 ms | 40.0 | 43.5 | +3.5 | 39.0 | 30.0 | 1.5 | 1.28 |" in capsys.readouterr().out


def test_ten_loops_are_measured() -> None:
    assert len(told_share.TEN) == 10
    assert set(told_share.TEN) <= {loop.name for loop in LOOPS}


def test_one_loop_in_a_process(tmp_path: Path) -> None:
    words = [sys.executable, told_share.__file__, "--child", "mlp 0.3 ms", "--rounds", "1"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["clocks"] > 0, done.stderr


def test_at_rest_is_where_a_run_of_minutes_comes_to(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def run(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().mean().backward()
            optimizer.step()

    with under_watch(tmp_path, mode="observe", inspect_steps=0) as session:
        run(told_share.WARM)
        told_share.rest_deeply(run, session)
        assert session.events.calls.rests
        assert session.events.resting.steps.leaves_out > 0
