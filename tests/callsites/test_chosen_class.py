"""Where a class of layers is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.chosen_class import chosen_line


@pytest.mark.parametrize(
    "text",
    ["ACT = nn.Sigmoid", "from torch.nn import Sigmoid\nlayers = [Sigmoid()]", 'act = getattr(nn, "Sigmoid")()'],
)
def test_the_first_line_that_speaks_of_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(f"x = 1\n{text}\ny = nn.Sigmoid()\n")
    found = chosen_line("Sigmoid", [str(file), str(file)])
    assert found is not None
    assert found.code == text.splitlines()[-1]


def test_a_file_that_does_not_and_one_of_a_library(tmp_path: Path) -> None:
    import json

    file = tmp_path / "model.py"
    file.write_text("ACT = nn.ReLU\nSigmoid = 3\n")
    assert chosen_line("Sigmoid", [json.__file__, str(file)]) is None
