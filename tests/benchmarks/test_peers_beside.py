"""A program is run with a peer that is told of its models, losses and steps, and is not changed by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks import peers_beside

PROGRAM = """
import sys
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 1)

    def forward(self, x):
        return self.inner(x)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
print(next(model.parameters()).shape)
if len(sys.argv) > 2:
    raise ValueError("stop")
"""


class Noting(peers_beside.Bare):
    """A peer that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def made(self, optimizer: torch.optim.Optimizer) -> None:
        self.told += [type(model).__name__ for model in peers_beside.trained_by(optimizer)]

    def before_backward(self) -> None:
        self.told.append("before")

    def backward(self, loss: torch.Tensor) -> None:
        self.told.append("backward")

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        self.told.append("step")

    def said(self) -> dict[str, object]:
        return {"told": self.told}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "argv", ["here"])
    monkeypatch.setattr(sys, "path", ["first", *sys.path])
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return path


def test_a_peer_is_told_of_the_outermost_model_its_losses_and_steps(program: Path) -> None:
    found = peers_beside.run(Noting(), program, ["2"])
    assert found["error"] is None
    assert found["said"] == {"told": ["Net", "before", "backward", "step", "before", "backward", "step"]}


def test_an_error_of_the_program_is_kept_and_torch_is_as_before(program: Path) -> None:
    before = torch.Tensor.backward
    assert "ValueError: stop" in peers_beside.run(Noting(), program, ["1", "fail"])["error"]
    assert torch.Tensor.backward is before


def test_it_runs_bare(program: Path) -> None:
    kept = program.parent / "said.json"
    words = [sys.executable, peers_beside.__file__, "--keep", str(kept), str(program), "1"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == "torch.Size([1, 3])\n", done.stderr
    assert '"peer": "bare"' in kept.read_text()
