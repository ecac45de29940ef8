"""Whether a statement was reached."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.observers.program.branch_run import ran
from debugtracer.source.program import parse

ALL = {"n": 3, "none": None, "some": [1], "on": True, "off": False, "x": torch.zeros(3), "many": "abcd"}


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("none is None", True),
        ("none is not None", False),
        ("some is None", False),
        ("unknown is None", None),
        ("n == 3", True),
        ("n < len(many)", True),
        ("n >= 4", False),
        ("n != missing", None),
        ("x == n", None),
        ("on", True),
        ("not on", False),
        ("not some", None),
        ("on and off", False),
        ("on and some", None),
        ("off and some", False),
        ("off or on", True),
        ("off or some", None),
        ("call()", None),
    ],
)
def test_the_two_branches_of_a_condition(test: str, holds: bool | None) -> None:
    text = f"def f():\n    if {test}:\n        a = 1\n    else:\n        a = 2\n    a = 3\n"
    program = parse(Path("train.py"), text.encode())
    assert program is not None
    given = {node.lineno: program.statement(node) for node in program.nodes if hasattr(node, "lineno")}
    assert ran(program, given[3], ALL) is holds
    assert ran(program, given[5], ALL) is (None if holds is None else not holds)
    assert ran(program, given[6], ALL) is True


def test_one_condition_in_another() -> None:
    text = "def f():\n    if call():\n        if off:\n            a = 1\n        b = 1\n"
    program = parse(Path("train.py"), text.encode())
    assert program is not None
    given = {node.lineno: program.statement(node) for node in program.nodes if hasattr(node, "lineno")}
    assert ran(program, given[4], ALL) is False
    assert ran(program, given[5], ALL) is None
