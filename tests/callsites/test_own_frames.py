"""The traceback of a program that dies is its own."""

from __future__ import annotations

import os
import subprocess
import traceback
from pathlib import Path

import pytest

from debugtracer.callsites.own_frames import hide
from debugtracer.errors import UsageError
from debugtracer.settings import Settings
from tests.forked import programs

CRASHES = """
import sys, traceback, torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.odd, self.table = nn.Linear(4, 2), nn.Sequential(nn.Linear(3, 2)), nn.Embedding(5, 4)
        self.seen = nn.Linear(3, 2)
        self.seen.register_forward_hook(lambda *call: None)
        self.kind = "fine"

    def forward(self, x, y):
        if self.kind == "linear":
            return self.odd(x).sum()
        if self.kind == "hooked":
            return self.seen(x).sum()
        if self.kind == "embedding":
            return self.table(y + 10).sum()
        if self.kind == "matmul":
            return (x @ x).sum()
        if self.kind == "arguments":
            return self.fc(x, x)
        if self.kind == "labels":
            return F.cross_entropy(self.fc(x), y + 10)
        return F.cross_entropy(self.fc(x), y)

torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
for kind in ["fine", *sys.argv[2:]]:
    net.kind = kind
    optimizer.zero_grad()
    try:
        loss = net(x, y)
    except Exception as error:
        if sys.argv[1] == "raise":
            raise
        traceback.print_exc()
        if kind == "labels":
            raise RuntimeError("the program's own words") from error
        continue
    loss.backward()
    optimizer.step()
"""
FAULTS = Path(__file__).resolve().parents[2] / "faults"


@pytest.mark.parametrize("slug", ["data/rare_defect", "model/rescaled_activations", "rollback/wrapped_weights"])
def test_it_reads_as_it_would_without_us(run_watched, slug):
    script = FAULTS / slug / "train.py"
    alone = subprocess.run([*programs().python, str(script)], capture_output=True, text=True, check=False)
    watched = run_watched(script)
    assert watched.status == alone.returncode == 1
    assert watched.stderr.startswith(alone.stderr)
    assert watched.report["verdict"]["symptom"] == "crash"
    assert sum(line.startswith("debug-tracer: error:") for line in watched.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("print", "linear", "embedding", "matmul", "arguments", "hooked", "labels"),
        ("raise", "linear"),
        ("raise", "embedding"),
    ],
    ids=["printed by the program", "died in an op", "died in a function of torch"],
)
def test_a_crash_inside_an_inspected_forward_reads_as_it_would_without_us(tmp_path, words):
    (tmp_path / "train.py").write_text(CRASHES)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DEBUG_TRACER")}
    env = plain | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": str(tmp_path / "runs"), "DEBUG_TRACER_STRICT": "1"}
    alone, watched = (
        subprocess.run(
            [*programs().python, "train.py", *words], cwd=tmp_path, env=e, capture_output=True, text=True, check=False
        )
        for e in (plain, env)
    )
    assert (tmp_path / "runs").is_dir()
    assert alone.stderr.count("Traceback") == (len(words) + 1 if words[0] == "print" else 1)
    assert watched.stderr.startswith(alone.stderr)
    assert watched.returncode == alone.returncode == 1


def test_an_error_of_ours_and_the_way_there_stay_whole():
    with pytest.raises(UsageError) as raised:
        Settings.from_env({"DEBUG_TRACER_MODE": "fast"})
    before = traceback.format_exception(raised.value)
    hide(raised.value)
    assert traceback.format_exception(raised.value) == before


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
