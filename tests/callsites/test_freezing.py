"""The lines that freeze."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.freezing import (
    calling_line,
    freezing_line,
    freezing_lines,
    refreezing_line,
    train_that_freezes,
)

SOURCE = """def build(model):
    for p in model.parameters():
        {first}
    return model
{second}
"""


@pytest.mark.parametrize("text", ["p.requires_grad = False", "p.requires_grad_(False)", "p.requires_grad_(mode=False)"])
def test_the_only_line_is_found_with_its_function(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    found = freezing_line([str(file), str(file)])
    assert found is not None
    assert (found.line, found.function, found.code) == (3, "build", text)


def test_of_two_none_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first="p.requires_grad = False", second="x.requires_grad_(False)"))
    assert [frame.line for frame in freezing_lines(str(file))] == [3, 5]
    assert freezing_line([str(file)]) is None


@pytest.mark.parametrize("text", ["p.requires_grad = True", "p.requires_grad_()", "p.frozen = False", "pass"])
def test_what_does_not_freeze(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    assert freezing_line([str(file)]) is None


METHOD = """class Net(Module):
    def freeze(self):
        self.stem.requires_grad_(False)

    def {name}(self, mode=True):
        super().train(mode)
        self.{called}()
"""


@pytest.mark.parametrize(
    ("name", "called", "line"), [("train", "freeze", 5), ("train", "other", None), ("eval", "freeze", None)]
)
def test_a_line_that_train_makes_run_belongs_to_it(tmp_path: Path, name: str, called: str, line: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(METHOD.format(name=name, called=called))
    found = train_that_freezes(freezing_line([str(file)]))
    assert (found.line if found is not None else None) == line
    assert train_that_freezes(None) is None


SCHEDULE = """def set_frozen(model, count):
    for name, p in model.named_parameters():
        p.requires_grad_(name.split(".")[0] not in STAGES[:count])

def prepare(model):
    for p in model.stem.parameters():
        p.requires_grad = False

def begin_round(model, epoch):
    set_frozen(model, epoch)

def train(model):
    prepare(model)
    for epoch in range(5):
        begin_round(model, epoch)
"""


def test_what_a_loop_runs_again_may_have_frozen_in_the_middle(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SCHEDULE)
    found = refreezing_line([str(file)])
    assert found is not None
    assert (found.line, found.function) == (3, "set_frozen")
    assert calling_line([str(file)], found) is None  # begin_round calls it, outside any loop
    assert freezing_line([str(file)]).line == 7  # at the start: the only one that surely freezes


def test_a_line_in_the_loop_of_epochs_counts_and_one_before_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    inside = "for epoch in range(5):\n    if epoch == 3:\n        for p in model.parameters():\n            {}\n"
    file.write_text(inside.format("p.requires_grad = False"))
    assert refreezing_line([str(file)]).line == 4
    file = tmp_path / "other.py"
    file.write_text(
        inside.format("p.requires_grad = True") + "for p in model.parameters():\n    p.requires_grad = False\n"
    )
    assert refreezing_line([str(file)]) is None


def test_of_two_that_run_again_none_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("while True:\n    a.requires_grad_(flag)\n    b.requires_grad_(flag)\n")
    assert refreezing_line([str(file)]) is None


def test_the_call_in_the_loop_is_the_schedule(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    source = "def freeze(net, n):\n    net.body.requires_grad_(n < 3)\n\nfor n in range(5):\n    freeze(net, n)\n"
    file.write_text(source)
    frozen = refreezing_line([str(file)])
    called = calling_line([str(file)], frozen)
    assert (frozen.line, called.line, called.code) == (2, 5, "freeze(net, n)")
    file = tmp_path / "twice.py"
    file.write_text(source + "    freeze(other, n)\n")
    assert calling_line([str(file)], refreezing_line([str(file)])) is None
