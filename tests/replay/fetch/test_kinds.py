"""What an expression did to make NaN or Inf of finite values."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from debugtracer.replay.fetch.descent import Origin
from debugtracer.replay.fetch.expressions import Names
from debugtracer.replay.fetch.kinds import kind_of
from debugtracer.replay.fetch.line_trace import Executed, Visit
from debugtracer.replay.fetch.statements import Statement
from debugtracer.source.program import parse

SCOPE = {"np": np, "torch": torch, "math": math}


def origin(text: str, held: dict[str, Any], before: str = "") -> Origin:
    """An expression as the origin, in a function whose lines before it are `before`."""
    source = f"def f():\n    {before or 'pass'}\n    return {text}\n"
    program = parse(Path("x.py"), source.encode())
    assert program is not None
    node = next(n for n in program.nodes if isinstance(n, ast.Return))
    assert node.value is not None
    visit = Visit(compile(source, "x.py", "exec"), SCOPE, None, None, 0, {}, frozenset())
    executed = Executed(Statement(program, node, ()), visit, 0, held, frozenset())
    names = Names(SCOPE, held)
    with np.errstate(all="ignore"):
        return Origin(node.value, executed, names, False, names.value(node.value))


@pytest.mark.parametrize(
    ("text", "held", "before", "kind"),
    [
        ("x / s", {"x": np.zeros(2), "s": np.zeros(2)}, "s = x.std()", "spread"),
        ("x / s", {"x": np.zeros(2), "s": np.zeros(2)}, "s = x.max() - x.min()", "spread"),
        ("x / s", {"x": np.ones(2), "s": np.zeros(2)}, "s = np.linalg.norm(x)", "norm"),
        ("x / s", {"x": np.ones(2), "s": np.zeros(2)}, "s = x.sum()", "division"),
        ("torch.div(x, s)", {"x": torch.ones(2), "s": torch.zeros(2)}, "", "division"),
        ("np.log10(x)", {"x": np.zeros(2)}, "", "log"),
        ("x.log()", {"x": torch.tensor([-1.0])}, "", "log"),
        ("x ** 0.5", {"x": torch.tensor([-1.0])}, "", "power"),
        ("x.sqrt()", {"x": torch.tensor([-1.0])}, "", "domain"),
        ("np.exp(x)", {"x": np.array([1e4])}, "", "exp"),
        ("x.half()", {"x": torch.tensor([1e6])}, "", "half"),
        ("x.float()", {"x": torch.tensor([1e300], dtype=torch.float64)}, "", "overflow"),
        ("x * x", {"x": np.array([1e200])}, "", "overflow"),
        ("x.mean()", {"x": torch.tensor([])}, "", "empty"),
        ("x.std()", {"x": torch.tensor([1.0])}, "", "few"),
        ("np.nan", {}, "", "written"),
        ("float('nan')", {}, "", "written"),
        ("float(cell)", {"cell": "nan"}, "", "stored"),
    ],
)
def test_what_it_did(text: str, held: dict[str, Any], before: str, kind: str):
    assert kind_of(origin(text, held, before)).kind == kind


def test_the_divisor_is_named_where_another_line_has_computed_it():
    found = kind_of(origin("x / s", {"x": np.zeros(2), "s": np.zeros(1)}, "s = x.std()"))
    assert found.divisor_text == "x.std()"
