"""Where a zero was made that a line divides by."""

from __future__ import annotations

from pathlib import Path

from debugtracer.callsites.origins.zero_origin import zero_made
from debugtracer.trace.birth import Frame

TEXT = """\
def decay(n):
    lost = torch.linspace(0.01, 1, n)
    kept = 1.0 - lost
    left = torch.cumprod(kept, 0)
    return {"left": left.sqrt(), "lost": lost}
class Net(nn.Module):
    def __init__(self, n):
        for key, table in decay(n).items():
            self.register_buffer(key, table)
        self.register_buffer("width", torch.ones(3) - torch.ones(3))
    def forward(self, x, t, size):
        a = x / self.left[t, None]
        b = x / self.width
        c = x / size
        return a / self.left + b / self.width
"""


def test_back_through_functions_that_keep_a_zero_to_what_reached_one(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(TEXT)
    lines = lambda number: [f.line for f in zero_made([Frame(str(file), number)])]  # noqa: E731
    assert lines(12) == [2, 3, 4, 5]
    assert lines(13) == [10]
    assert lines(14) == []  # not the module's own
    assert lines(15) == []  # two of them
    assert zero_made([]) == ()
