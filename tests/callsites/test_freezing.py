"""The lines that freeze."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.freezing import freezing_line, freezing_lines

SOURCE = """def build(model):
    for p in model.parameters():
        {first}
    return model
{second}
"""


@pytest.mark.parametrize("text", ["p.requires_grad = False", "p.requires_grad_(False)", "p.requires_grad_(mode=False)"])
def test_the_only_line_is_found_with_its_function(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    found = freezing_line([str(file), str(file)])
    assert found is not None
    assert (found.line, found.function, found.code) == (3, "build", text)


def test_of_two_none_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first="p.requires_grad = False", second="x.requires_grad_(False)"))
    assert [frame.line for frame in freezing_lines(str(file))] == [3, 5]
    assert freezing_line([str(file)]) is None


@pytest.mark.parametrize("text", ["p.requires_grad = True", "p.requires_grad_()", "p.frozen = False", "pass"])
def test_what_does_not_freeze(tmp_path: Path, text: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(first=text, second=""))
    assert freezing_line([str(file)]) is None
