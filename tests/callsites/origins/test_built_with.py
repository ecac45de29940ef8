"""What an object of the program was built with."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.utils.data import Dataset

from debugtracer.callsites.origins.sample_origin import sample_origin
from debugtracer.callsites.origins.value_origin import written_at
from debugtracer.trace.birth import Frame

READ_BY_A_FUNCTION = """\
class Scans(Dataset):
    def __init__(self, images):
        self.images = images
    def __getitem__(self, i):
        return self.images[i]
def scaled(image):
    return image / 255.0 if image.max() > 1.5 else image
def read(folder):
    kept = []
    for name in folder:
        kept.append(scaled(load(name)))
    return kept, len(kept)
def main():
    images, count = read("scans")
    return DataLoader(Scans(images), batch_size=4)
"""
TWO_OF_A_CLASS = """\
class Wells(Dataset):
    def __init__(self, table, names):
        self.table = table
        self.names = names
    def __getitem__(self, i):
        row = self.table[i]
        return row
old = raw.log()
new = (raw - raw.mean(0)) / raw.std(0)
before = Wells(old, names)
after = Wells(table=new, names=names)
first = DataLoader(before, batch_size=8)
second = DataLoader(
    after,
    batch_size=8,
)
"""
MADE_IN_THE_CALL = """\
class Tides(Dataset):
    def __init__(self, heights):
        super().__init__()
        self.heights = heights
    def __getitem__(self, i):
        return self.heights[i]
tides = Tides(metres * 0.01)
"""
MADE_THERE = """\
class Bricks(Dataset):
    def __init__(self, table):
        self.table = table
    def __getitem__(self, i):
        return self.table[i] - 0.5
table = raw / 10
bricks = Bricks(table)
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other file is of the program."""
    monkeypatch.setattr("debugtracer.callsites.origins.only_caller.program_files", lambda: None)


def made(folder: Path, text: str, built: int | None) -> int:
    """The line that made the values of a batch of the first data set of a program."""
    file = folder / "program.py"
    file.write_text(text)
    body = text[: text.index("\n", text.rindex("        return self" if "row =" not in text else "return row")) + 1]
    scope: dict[str, object] = {"Dataset": Dataset}
    exec(compile(body, str(file), "exec"), scope)
    kind = next(one for one in scope.values() if isinstance(one, type) and one is not Dataset)
    place = Frame(str(file), built) if built is not None else None
    found = written_at(sample_origin(kind.__new__(kind), None, place, "batch"))
    assert found is not None
    return found.line


@pytest.mark.parametrize(
    ("text", "built", "line"),
    [
        (READ_BY_A_FUNCTION, 15, 7),
        (READ_BY_A_FUNCTION, None, 7),
        (TWO_OF_A_CLASS, 12, 8),
        (TWO_OF_A_CLASS, 13, 9),
        (TWO_OF_A_CLASS, None, 3),  # either of two
        (MADE_IN_THE_CALL, None, 7),
        (MADE_THERE, 7, 5),  # the class makes values of its own
    ],
)
def test_the_line_behind_the_constructor(tmp_path: Path, text: str, built: int | None, line: int) -> None:
    assert made(tmp_path, text, built) == line
