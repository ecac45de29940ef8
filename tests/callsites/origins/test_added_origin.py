"""Numbers that a module adds to what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.added_origin import added_origin
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
from torch import nn
class Fields(nn.Module):
    def __init__(self, sizes, given):
        super().__init__()
        self.rows = nn.Embedding(sum(sizes), 4)
        self.starts = torch.tensor([0, *sizes[:-1]])
        self.given = given
        begins = [0]
        for size in sizes[:-1]:
            begins.append(size)
        self.register_buffer("begins", torch.tensor(begins))
    def forward(self, x):
        a = self.rows(x + self.begins)
        x = x.long() + x.new_tensor(self.starts).unsqueeze(0)
        return a + self.rows(x)
    def moved(self, x):
        x += self.starts
        return self.rows(x)
    def handed(self, x):
        return self.rows(x + self.given) + self.begins
    def plain(self, x):
        return self.rows(x)
"""


@pytest.mark.parametrize(("line", "made"), [(14, 11), (16, 7), (19, 7), (21, None), (23, None), (1, None)])
def test_the_line_that_made_what_is_added(tmp_path: Path, line: int, made: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    found = added_origin([Frame(str(file), line)], "rows", "input")
    assert (found.line if found is not None else None) == made


def test_nothing_without_a_line() -> None:
    assert added_origin((), "rows", "input") is None
