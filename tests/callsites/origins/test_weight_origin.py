"""Where the weight of a layer was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.weight_origin import weight_line
from debugtracer.trace.birth import Frame

TEXT = """\
class Block(nn.Module):
    def __init__(self):
        self.conv2 = weight_norm(nn.Conv1d(2, 2, 3))
        {line}
    def forward(self, x):
        return self.net(x)
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.conv2.weight = torch.zeros_like(self.conv2.weight)",
        "nn.init.zeros_(self.conv2.weight)",
        "self.conv2.weight.data.zero_()",
        "self.conv2.weight.data[0] = 0",
    ],
)
def test_an_assignment_and_a_filling(tmp_path: Path, line: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT.format(line=line))
    found = weight_line([Frame(str(file), 6)], "conv2.weight")
    assert found is not None
    assert (found.line, found.code, found.function) == (4, line, "__init__")


@pytest.mark.parametrize("line", ["pass", "self.conv1.weight.data.zero_()", "x = self.conv2.weight.mean()"])
def test_nothing_that_writes_it(tmp_path: Path, line: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(TEXT.format(line=line))
    assert weight_line([Frame(str(file), 6)], "conv2.weight") is None
    assert weight_line([], "conv2.weight") is None
