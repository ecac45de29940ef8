"""The line that takes a number out of what a file holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.file_item import file_item
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

READS = 'content = json.loads(path.read_text())\nfor row in content["rows"]:\n'
CASES = {
    "by its name": (f'{READS}    y = row["energy"]\n    keep(y)\n', 'y = row["energy"]'),
    "computed after it": (f'{READS}    y = row["energy"] * 2\n    keep(y)\n', None),
    "as a whole": ("y = np.load(path)\nkeep(y)\n", None),
    "from no file": ("rows = make()\nfor row in rows:\n    y = row[0]\n    keep(y)\n", None),
}


@pytest.mark.parametrize(("code", "line"), CASES.values(), ids=CASES)
def test_the_line_before_the_file(tmp_path: Path, code: str, line: str | None) -> None:
    file = tmp_path / "reading.py"
    file.write_text(code)
    found = file_item(origin("y", (Frame(str(file), code.count("\n")),)))
    assert (found.code if found is not None else None) == line


def test_no_line_at_all() -> None:
    assert file_item(()) is None
