"""The line that gave the length of a buffer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from debugtracer.callsites.origins.buffer_room import room_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.trace.birth import Frame

BEHIND_A_CONSTRUCTOR = """\
class Words(Dataset):
    def __init__(self, words, longest):
        self.words = words
        self.longest = longest
    def __getitem__(self, i):
        x = torch.zeros(self.longest + 1, dtype=torch.long)
        x[1:1 + len(self.words[i])] = self.encode(self.words[i])
        return x
def build(words):
    longest = max(len(w) for w in words[:9])
    return Words(words[:9], longest), Words(words[9:], longest)
"""
TWO_LENGTHS = BEHIND_A_CONSTRUCTOR.replace("Words(words[9:], longest)", "Words(words[9:], 40)")
IN_A_COLLATE = """\
MOST = 12
def collate(rows):
    out = torch.full((len(rows), MOST), PAD).to(device)
    for i, row in enumerate(rows):
        out[i, :len(row)] = row
    return out
"""
WRITTEN_OUT = """\
def padded(ids):
    row = np.zeros(20)
    row[:len(ids)] = ids
    return row
"""
OF_A_PARAMETER = """\
def padded(ids, length):
    row = ids.new_zeros(length)
    row[:len(ids)] = ids
    return row
kept = [padded(ids, 4 * 8) for ids in table]
"""
OF_TWO = """\
a = 3
b = 4
row = torch.zeros(a + b)
row[:n] = ids
"""
MADE_ELSEWHERE = """\
row = like(ids)
row[:n] = ids
"""
SHAPE_OF_ANOTHER = """\
row = torch.zeros(*ids.shape)
row[:n] = ids
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other file is of the program."""
    monkeypatch.setattr("debugtracer.callsites.origins.only_caller.program_files", lambda: None)


@pytest.mark.parametrize(
    ("text", "line", "dim", "meant"),
    [
        (BEHIND_A_CONSTRUCTOR, 7, 0, 10),
        (TWO_LENGTHS, 7, 0, None),
        (IN_A_COLLATE, 5, 1, 1),
        (IN_A_COLLATE, 5, 2, None),
        (WRITTEN_OUT, 3, 0, 2),
        (OF_A_PARAMETER, 3, 0, 5),
        (OF_TWO, 4, 0, None),
        (MADE_ELSEWHERE, 2, 0, None),
        (SHAPE_OF_ANOTHER, 2, 0, None),
    ],
)
def test_the_line_of_the_length(tmp_path: Path, text: str, line: int, dim: int, meant: int | None) -> None:
    file = tmp_path / "train.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    stored = [n for n in program.nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    node = next(n for n in stored if n.lineno == line)
    found = room_line(node, dim, (Frame(str(file), line),))
    assert (found.line if found is not None else None) == meant
