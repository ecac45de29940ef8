"""A model that is made twice."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from debugtracer.callsites.second_model import second_model
from debugtracer.trace.birth import Frame


class Ranker(nn.Module):
    pass


def found(tmp_path: Path, *sources: str) -> Frame | None:
    files = []
    for number, source in enumerate(sources):
        file = tmp_path / f"part{number}.py"
        file.write_text(source)
        files += [str(file)] * 2  # a script is in sys.modules under two names
    return second_model(Ranker, files)


TWICE = """class Engine:
    def __init__(self, config):
        self.model = Ranker(config)
        self.optimizer = make_optimizer(self.model)
        if config.fresh:
            self.model = Ranker(config)
"""


def test_the_last_of_two_lines_of_one_function(tmp_path: Path) -> None:
    frame = found(tmp_path, "import os\n", TWICE)
    assert frame is not None
    assert (frame.line, frame.function, frame.code) == (6, "__init__", "self.model = Ranker(config)")


def test_the_last_call_of_the_function_that_makes_one(tmp_path: Path) -> None:
    made = "def build(n):\n    net = Ranker(n)\n    return net\n"
    frame = found(tmp_path, made, "net = build(3)\noptimizer = SGD(net.parameters())\nnet = build(3)\n")
    assert frame is not None
    assert (frame.line, frame.code) == (3, "net = build(3)")


def test_one_line_is_no_second(tmp_path: Path) -> None:
    assert found(tmp_path, "net = Ranker()\n") is None
    assert found(tmp_path, "print(Ranker())\nnet = Ranker()\n") is None
    assert found(tmp_path, "def build():\n    return Ranker()\nnet = build()\n") is None


def test_lines_of_several_functions_are_not_guessed_between(tmp_path: Path) -> None:
    assert found(tmp_path, "def train():\n    net = Ranker()\n\ndef test():\n    net = Ranker()\n") is None
