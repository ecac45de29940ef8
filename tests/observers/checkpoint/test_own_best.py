"""Comparisons of a loop of the program's own, found in its source and read at the end of each evaluation."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.checkpoint import own_best
from debugtracer.observers.checkpoint.own_best import comparisons, read
from debugtracer.trace.facts.best_kept import BestKept
from tests.observers.observing import observed

HEAD = "best, bad, kept = 0.0, 0, None\nvalue = 1.0\nclass Net:\n    best = 0.0\nnet = Net()\n"
SAVE = "    best = value\n    kept = net.state_dict()\n"


def found(tmp_path: Path, text: str) -> list[tuple[str, str, int, str]]:
    file = tmp_path / "train.py"
    file.write_text(HEAD + text)
    return [(ast.unparse(c.value), c.mode, c.frame.line, c.text) for c in comparisons(str(file))]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("if value < best:\n" + SAVE, "min"),
        ("if value >= best:\n" + SAVE, "max"),
        ("if best > value:\n" + SAVE, "min"),
        ("if kept is None or value > best:\n" + SAVE, "max"),
        ("if value > best:\n    bad += 1\nelse:\n" + SAVE, "min"),
        ("if value < net.best:\n    net.best = value\n    save(net)\n", "min"),
    ],
)
def test_a_comparison_and_its_direction(tmp_path, text, mode):
    ((value, way, line, _),) = found(tmp_path, text)
    assert (value, way, line) == ("value", mode, 6)


@pytest.mark.parametrize(
    "text",
    [
        "if value < best:\n    best = value\n",  # nothing is kept
        "if value < best:\n    kept = net.state_dict()\n",  # it is not the best so far
        "if value == best:\n" + SAVE,
        "if min(value, 1) < best:\n    bad = 1\n    save(net)\n",
    ],
)
def test_others_are_none(tmp_path, text):
    assert found(tmp_path, text) == []


def test_numbers_alone_are_read():
    names = {"a": 0.5, "b": "word", "c": True, "e": {"val": 1.5}}
    asked = ("a", "b", "c", "d", "a.x", 'e["val"]', 'e["x"]', 'a["val"]')
    values = [read(ast.parse(n, mode="eval").body, names) for n in asked]
    assert values == [0.5, None, None, None, None, 1.5, None, None]


def loop() -> None:
    model, best = nn.Linear(3, 2), 0.0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 3), torch.randint(0, 2, (8,))
    for epoch in range(4):
        model.train()
        for _ in range(3):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            nn.functional.cross_entropy(model(x), y)
        score = epoch + 0.5
        if score < best:
            best = score
            model.state_dict()


def test_each_evaluation_that_training_goes_on_after_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(own_best, "program_files", lambda: [__file__])  # a worker of pytest has no script
    told = observed(tmp_path / "runs", loop, BestKept)
    assert [(f.value, f.count, f.mode, f.monitor, f.owner, f.own) for f in told] == [
        (0.5, 0, "min", "score", "score < best", True),
        (1.5, 1, "min", "score", "score < best", True),
        (2.5, 2, "min", "score", "score < best", True),
    ]
    assert told[0].frame is not None and told[0].frame.code == "if score < best:"
    assert {f.best for f in told} == {0.0}
    assert told[0].begun is not None and told[0].begun.code == "model, best = nn.Linear(3, 2), 0.0"
