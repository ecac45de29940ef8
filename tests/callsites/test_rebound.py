"""Updates that are bound to a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.rebound import rebinding_line

SOURCE = """loss.backward()
with torch.no_grad():
    for p, v in zip(model.parameters(), velocity):
        v.mul_(0.9).add_(p.grad)
        {line}
"""


@pytest.mark.parametrize("line", ["p = p - rate * v", "p = p.data + rate * v"])
def test_a_new_weight_for_the_name_of_the_loop(tmp_path: Path, line: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(line=line))
    found = rebinding_line(str(file))
    assert found is not None
    assert (found.line, found.code) == (5, line)


@pytest.mark.parametrize("line", ["p -= rate * v", "p.data = p - rate * v", "q = p - rate * v", "v = v - p", "p = v"])
def test_what_writes_the_weight_or_another_name(tmp_path: Path, line: str) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(line=line))
    assert rebinding_line(str(file)) is None


def test_of_two_none_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE.format(line="p = p - v") * 2)
    assert rebinding_line(str(file)) is None
