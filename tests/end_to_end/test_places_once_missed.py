"""Programs whose birth was once missed or misplaced, each run under watch as a user would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HEAD = """
import threading, torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.rand(64, 4) + 0.1
X[BAD] = -1.0
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(X), batch_size=8, shuffle=False)
"""

FIRST = """
for (x,) in loader:
    z = torch.log(x)  # BIRTH
    loss = model(z).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

TEACHER = """
teacher = nn.Linear(4, 1)
for (x,) in loader:
    z = torch.log(x)  # BIRTH
    with torch.no_grad():
        wanted = torch.nan_to_num(teacher(z.clamp(-9, 9).nan_to_num()))
    loss = (model(z) - wanted).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""

THREAD = """
def work():
    for (x,) in loader:
        loss = model(torch.log(x)).pow(2).mean()  # BIRTH
        optimizer.zero_grad(); loss.backward(); optimizer.step()
thread = threading.Thread(target=work); thread.start(); thread.join()
"""

BY_HAND = """
w = torch.randn(4, 1, requires_grad=True)
del optimizer
for (x,) in loader:
    loss = (torch.log(x) @ w).pow(2).mean()  # BIRTH
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad.zero_()
"""

LOOKED_AT = """
import torch.nn.functional as F
for (x,) in loader:
    loss = model(x.abs()).pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    F.cross_entropy(nn.Linear(4, 3)(torch.zeros(0, 4)), torch.zeros(0, dtype=torch.long)).item()
"""


def verdict(run_watched: Any, folder: Path, body: str, bad: int) -> tuple[Any, int]:
    text = HEAD.replace("BAD", str(bad)) + body
    script = folder / "train.py"
    script.write_text(text)
    watched = run_watched(script)
    line = next((n for n, code in enumerate(text.splitlines(), 1) if "# BIRTH" in code), 0)
    return watched, line


@pytest.mark.parametrize(
    ("body", "bad"),
    [(FIRST, 3), (FIRST, 43), (TEACHER, 3), (TEACHER, 43), (THREAD, 43)],
    ids=["first", "later", "teacher first", "teacher", "thread"],
)
def test_a_logarithm_before_the_model_is_named_with_its_line_and_sample(
    run_watched: Any, tmp_path: Path, body: str, bad: int
) -> None:
    watched, line = verdict(run_watched, tmp_path, body, bad)
    found = watched.report["verdict"]
    assert found is not None, watched.stderr
    assert (found["op"], found["line"], found["sample_index"], found["iteration"]) == (
        "aten::log",
        line,
        [bad],
        bad // 8,
    )


def test_a_loop_without_an_optimizer_has_its_birth_named(run_watched: Any, tmp_path: Path) -> None:
    watched, line = verdict(run_watched, tmp_path, BY_HAND.replace("del optimizer", ""), 43)
    found = watched.report["verdict"]
    assert (found["op"], found["line"], found["sample_index"]) == ("aten::log", line, [43])


def test_the_loss_of_an_empty_batch_that_is_only_looked_at_is_no_incident(run_watched: Any, tmp_path: Path) -> None:
    watched, _ = verdict(run_watched, tmp_path, LOOKED_AT, 43)
    assert watched.status == 0, watched.stderr
    assert watched.report["verdict"] is None
