"""Expressions of the user's, computed once more."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.nn import functional

from debugtracer.replay.pure_expression import Impure, compute

NAMES = {
    "a": torch.tensor([1.0, 2.0, 4.0]),
    "b": torch.tensor([[1.0, 0.0]]),
    "cfg": SimpleNamespace(clip=0.5),
    "torch": torch,
    "F": functional,
    "criterion": nn.MSELoss(),
    "pair": (1.0, 2.0),
    "log_softmax": torch.log_softmax,
}


def value(text: str) -> object:
    return compute(ast.parse(text, mode="eval").body, NAMES.__getitem__)


@pytest.mark.parametrize(
    "text",
    [
        "(a - a.mean()) / (a.std() + 1e-8)",
        "-torch.log(a)[1:] * cfg.clip",
        "a[0:2].sum() + pair[1]",
        "F.softmax(b, dim=-1).T",
        "criterion(a, torch.zeros_like(a))",
        "log_softmax(b, 1)",
        "a.clamp(1 - cfg.clip, 1 + cfg.clip) ** 2",
        "torch.stack([a, a]).view(a.shape[0], 2)",
        "float(len(a))",
    ],
)
def test_arithmetic_gives_what_python_gives(text: str):
    wanted = eval(text, dict(NAMES))
    found = value(text)
    assert torch.equal(torch.as_tensor(found), torch.as_tensor(wanted))


class Loud:
    """Does something where it is read, called or added to."""

    def __init__(self) -> None:
        self.done = 0

    @property
    def shape(self) -> int:
        self.done += 1
        return 1

    def __add__(self, other: object) -> object:
        self.done += 1
        return other

    def mean(self) -> int:
        self.done += 1
        return 1


@pytest.mark.parametrize(
    "text",
    ["loud.shape", "loud + 1", "loud.mean()", "a.add_(1)", "torch.randn(3)", "a.uniform_()", "model(a)", "open('x')",
     "[x for x in a]", "(lambda: 1)()", "torch.save(a, 'x')", "a.backward()", "F.dropout(a)"],
)  # fmt: skip
def test_what_may_do_something_is_refused(text: str):
    loud, model = Loud(), nn.Linear(3, 1)
    names = NAMES | {"loud": loud, "model": model, "open": open}
    before = NAMES["a"].clone()
    with pytest.raises(Impure):
        compute(ast.parse(text, mode="eval").body, names.__getitem__)
    assert loud.done == 0 and torch.equal(NAMES["a"], before)
