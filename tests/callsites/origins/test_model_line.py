"""The line that built the model of an optimizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.model_line import model_line
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
