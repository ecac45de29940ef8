"""Where the size of a table of rows is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.table_size import counted_at
from debugtracer.trace.birth import Frame

PROPERTY = """\
class Visits:
    @property
    def shops(self):
        return self.shop.nunique()
class Net(nn.Module):
    def __init__(self, shops, dim):
        self.shop = nn.Embedding(shops, dim)
net = Net(visits.shops, 8)
"""
CASES = {
    "in the call": ("table = nn.Embedding(len(set(ids)), 8)\n", 1, 1),
    "a name": ("n = ids.unique().numel()\nw = 3\ntable = nn.EmbeddingBag(n, 8)\n", 3, 1),
    "a property of the data": (PROPERTY, 7, 4),
    "an argument of the class": (
        "class Net:\n    def __init__(self, n):\n        self.t = nn.Embedding(n, 4)\nk = len(np.unique(col))\n"
        "net = Net(n=k)\n",
        3,
        4,
    ),
    "a set by comprehension": (
        "n = len({i for row in rows for i in row})\ntable = nn.EmbeddingBag(n, 8)\n",
        2,
        1,
    ),
    "the largest": ("n = int(ids.max()) + 1\ntable = nn.Embedding(n, 8)\n", 2, None),
    "a number": ("table = nn.Embedding(40, 8)\n", 1, None),
    "a vocabulary": ("n = len(vocabulary)\ntable = nn.Embedding(n, 8)\n", 2, None),
    "another layer": ("n = len(set(ids))\ntable = nn.Linear(n, 8)\n", 2, None),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_count_of_different_values_is_named(tmp_path: Path, case: str) -> None:
    text, built, counted = CASES[case]
    file = tmp_path / "model.py"
    file.write_text(text)
    found = counted_at(Frame(str(file), built), 40)
    assert (found.line if found is not None else None) == counted
