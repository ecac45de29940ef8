"""The line that built the model of an optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.model_line import copy_line, model_line
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
model = torch.nn.Linear(2, 2)
a = torch.optim.SGD(model.parameters(), lr=0.1)
b = torch.optim.SGD([model.weight], lr=0.1)
class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(("line", "expected"), [(3, 2), (4, None), (8, 7)])
def test_it_is_where_the_name_before_parameters_was_written(tmp_path: Path, line: int, expected: int | None):
    file = tmp_path / "built.py"
    file.write_text(PROGRAM)
    found = model_line([Frame(str(file), line, "<module>", "")], "SGD")
    assert (found.line if found else None) == expected


def test_no_line_is_none():
    assert model_line([], "SGD") is None


COPIES = """\
import torch
class Net(torch.nn.Module):
    def clone(self):
        fresh = Net()
        return fresh
    def bare(self):
        return Net()
net = Net()
one = net.clone()
a = torch.optim.SGD(one.parameters(), lr=0.1)
two = net.bare()
b = torch.optim.SGD(two.parameters(), lr=0.1)
three = Net()
c = torch.optim.SGD(three.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(("line", "expected"), [(10, 4), (12, 7), (14, 13)])
def test_a_copy_is_made_in_the_function_that_makes_it(tmp_path: Path, line: int, expected: int):
    file = tmp_path / "copies.py"
    file.write_text(COPIES)
    found = copy_line([Frame(str(file), line, "<module>", "")], "SGD")
    assert found is not None and found.line == expected
