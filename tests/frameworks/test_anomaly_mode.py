"""Anomaly mode that the program has switched on itself: exception, traceback and status as without us."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.frameworks.test_frameworks import PROGRAMS, run

PLAIN = """import torch
torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    y = model(torch.rand(6, 4)) * (0.0 if step == 3 else 1.0)
    loss = torch.sqrt((y * y).sum(1)).mean()
    print(step, loss.item().hex(), flush=True)
    loss.backward()
    optimizer.step()
"""

CALLS_CLOSURE = re.compile(r'^  File "[^"]*/torch/optim/[^"]*", line .*\n(?:    .*\n)*', re.MULTILINE)


def traceback_of(stderr: str) -> str:
    """The program's own traceback, from its first line to the exception, without torch's lines that call a closure: the
    gate calls it before they would."""
    whole = stderr[stderr.index("Traceback (most recent call last)") :].partition("\ndebug-tracer:")[0].strip()
    return CALLS_CLOSURE.sub("", whole)


@pytest.mark.parametrize("framework", ["plain", pytest.param("lightning", marks=pytest.mark.sweep)])
def test_the_exception_of_anomaly_mode_reads_as_without_us(framework: str, tmp_path: Path) -> None:
    if framework == "lightning":
        pytest.importorskip("lightning")
        words = [sys.executable, str(PROGRAMS / "lightning_anomaly.py"), "--raise"]
    else:
        script = tmp_path / "plain.py"
        script.write_text(PLAIN)
        words = [sys.executable, str(script)]
    bare, watched = run(words, tmp_path, False), run(words, tmp_path, True)
    assert bare.returncode == watched.returncode == 1, watched.stderr
    assert bare.stdout == watched.stdout and bare.stdout
    assert re.search(
        r"RuntimeError: Function '\w+' returned nan values in its 0th output\.$", traceback_of(bare.stderr)
    )
    assert traceback_of(watched.stderr) == traceback_of(bare.stderr)
