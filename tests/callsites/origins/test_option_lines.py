"""Lines that give an option a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.option_lines import literal, option_lines
from debugtracer.source.program import parse

TEXT = """\
parser.add_argument("--learning-rate", type=float, default=3e-4)
args.learning_rate = 0.1
options["learning_rate"] = 0.1
cfg = Config(learning_rate=-0.1)
table = {"learning_rate": 0.1, "size": 0.1}
class Config:
    learning_rate: float = 3e-4
    size = 0.1
"""


def test_each_kind_of_option():
    program = parse(Path("train.py"), TEXT.encode())
    assert program is not None
    assert sorted(option_lines(program, "learning_rate", 0.1)) == [2, 3, 5]
    assert sorted(option_lines(program, "learning_rate", 3e-4)) == [1, 7]
    assert list(option_lines(program, "learning_rate", -0.1)) == [4]
    assert list(option_lines(program, "rate", 0.1)) == []


@pytest.mark.parametrize(("text", "number"), [("1e-3", 1e-3), ("-2", -2.0), ("True", None), ("'a'", None), ("x", None)])
def test_a_number_that_is_written_out(text: str, number: float | None):
    import ast

    assert literal(ast.parse(text, mode="eval").body) == number
