"""Blocks of steps bare, watched and with the least: their figures, and a whole program in turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from benchmarks.rest_turns import Block, Wanted

from benchmarks import rest_turns

PROGRAM = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 16), torch.randint(0, 4, (64,))
while True:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


def test_a_ratio_is_of_blocks_of_the_same_round() -> None:
    blocks = {
        "bare": [Block(0, 1.0), Block(1, 2.0), Block(2, 1.0)],
        "watched": [Block(0, 1.1), Block(1, 2.4), Block(2, 1.3), Block(3, 9.0)],
        "floor": [Block(0, 1.0), Block(1, 2.0), Block(2, 1.1)],
    }
    found = rest_turns.figures(blocks)
    assert found["bare_us"] == 1e6
    assert (found["watched"]["ratio"], found["watched"]["rounds"]) == (1.2, 3)
    assert found["floor"]["ratio"] == 1.0
    low, high = found["watched"]["interval"]
    assert 1.1 <= low <= 1.2 <= high <= 1.3


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_program_in_turns(tmp_path: Path, by_hand: bool) -> None:
    script, found = tmp_path / "train.py", tmp_path / "found.json"
    write = (
        "with torch.no_grad():\n        for p in model.parameters(): p -= 0.01 * p.grad\n    debug_tracer_step_ends()"
    )
    script.write_text(PROGRAM.replace("optimizer.step()", write) if by_hand else PROGRAM)
    wanted = Wanted(str(found), warm_s=0.5, seconds=6.0, by_hand=by_hand)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")} | {
        "DEBUG_TRACER": "1", "DEBUG_TRACER_MODE": "observe", "DEBUG_TRACER_OUT": str(tmp_path), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    words = [sys.executable, rest_turns.__file__, json.dumps(asdict(wanted)), str(script)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert found.exists(), done.stderr[-2000:]
    row = json.loads(found.read_text())
    assert row["watched"]["rounds"] >= 2
    assert row["floor"]["rounds"] >= 2
    assert 0.5 < row["watched"]["ratio"] < 5  # a busy machine
    assert row["own_us"] > 0


def test_a_program_that_ends_is_told(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('over')")
    words = [sys.executable, rest_turns.__file__, json.dumps(asdict(Wanted("found", 1, 1))), str(script)]
    done = subprocess.run(
        words, env=os.environ | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "ended by itself" in done.stderr
