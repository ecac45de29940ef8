"""Where the tensor was kept that a line takes a weight from."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.kept_origin import kept_line
from debugtracer.trace.birth import Frame

TEXT = """\
class Anchor:
    def __init__(self, model):
        self.old = {}
        for n, p in model.named_parameters():
            self.old[n] = plain(p.data)
    def penalty(self, model):
        total = 0
        for n, p in model.named_parameters():
            total += (p - self.old[n]).pow(2).sum()
            total += F.mse_loss(p, self.old[n])
            total += self.old[n].sub(p).pow(2).sum()
            total += (p - a) - (b - c)
        return total
anchors = []
for region in regions:
    for p, anchor in zip(model.parameters(), anchors):
        loss = loss + (p - anchor).pow(2).sum()
    anchors = [p.data for p in model.parameters()]
def plain(x):
    return Variable(x)
"""


@pytest.mark.parametrize(
    ("line", "side", "kept"), [(9, 1, 5), (10, 1, 5), (11, 0, 5), (12, 1, None), (17, 1, 18), (17, 0, None)]
)
def test_the_line_that_kept_it(tmp_path: Path, line: int, side: int, kept: int | None) -> None:
    file = tmp_path / "anchor.py"
    file.write_text(TEXT)
    found = kept_line([Frame(str(file), line)], side)
    assert (found.line if found is not None else None) == kept
