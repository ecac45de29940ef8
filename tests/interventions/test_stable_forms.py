"""Every stable form: inside the domain the same bits as torch, at its edge a finite value with a finite gradient."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from debugtracer.interventions.stable_forms import FAMILIES, FORMS
from debugtracer.interventions.stable_op import exchanged
from tests.watching import same_bits

ZERO, INF = 0.0, math.inf
ROWS = torch.tensor([[1.0, 2.0, 4.0], [0.5, 3.0, 2.0]])
GONE = torch.tensor([[1.0, 2.0, 4.0], [-INF, -INF, -INF]])
NOTHING = torch.tensor([[True, True, False], [False, False, False], [True, False, False]])

CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]] = {
    **{name: (getattr(torch, name), (ROWS,), (torch.tensor([ZERO, 1.0]),)) for name in ("log", "log2", "log10", "sqrt",
        "rsqrt", "reciprocal")},
    "log1p": (torch.log1p, (ROWS,), (torch.tensor([-1.0, 1.0]),)),
    "logit": (torch.logit, (ROWS / 8,), (torch.tensor([0.0, 1.0, 0.5]),)),
    "div": (torch.div, (ROWS, ROWS), (torch.ones(2), torch.tensor([ZERO, 2.0]))),
    "truediv": (Tensor.__truediv__, (ROWS, 3.0), (torch.ones(2), 0)),
    "rtruediv": (Tensor.__rtruediv__, (ROWS, 3.0), (torch.tensor([ZERO, 2.0]), 1.0)),
    "floor_divide": (torch.floor_divide, (ROWS, ROWS), (torch.ones(2), torch.tensor([ZERO, 2.0]))),
    "fmod": (torch.fmod, (ROWS, ROWS), (torch.ones(2), torch.tensor([ZERO, 2.0]))),
    "remainder": (torch.remainder, (ROWS, ROWS), (torch.ones(2), torch.tensor([ZERO, 2.0]))),
    **{name: (getattr(torch, name), (ROWS / 8,), (torch.tensor([-1.0, 1.0, 0.2]),)) for name in ("acos", "asin",
        "atanh", "erfinv")},
    "acosh": (torch.acosh, (ROWS + 1,), (torch.tensor([1.0, 2.0]),)),
    "pow": (torch.pow, (ROWS, 0.5), (torch.tensor([-1.0, ZERO, 2.0]), 0.5)),
    "float_power": (torch.float_power, (ROWS, -1.0), (torch.tensor([ZERO, 2.0]), -1.0)),
    **{name: (getattr(torch, name), (ROWS,), (torch.tensor([2e3, 1.0]),)) for name in ("exp", "expm1", "exp2", "sinh",
        "cosh")},
    "norm": (torch.norm, (ROWS,), (torch.zeros(4),)),
    "linalg_vector_norm": (torch.linalg.vector_norm, (ROWS,), (torch.zeros(4),)),
    "cdist": (torch.cdist, (ROWS, ROWS + 3), (torch.zeros(2, 3), torch.zeros(2, 3))),
    "pairwise_distance": (F.pairwise_distance, (ROWS, ROWS + 3), (torch.zeros(2, 3), torch.zeros(2, 3))),
    "normalize": (F.normalize, (ROWS,), (torch.zeros(2, 3),)),
    "cosine_similarity": (torch.cosine_similarity, (ROWS, ROWS + 1), (torch.zeros(2, 3), torch.zeros(2, 3))),
    "std": (torch.std, (ROWS,), (torch.ones(4),)),
    "var": (torch.var, (ROWS,), (torch.ones(4),)),
    "softmax": (torch.softmax, (ROWS, -1), (GONE, -1)),
    "log_softmax": (torch.log_softmax, (ROWS, -1), (GONE, -1)),
    "logsumexp": (torch.logsumexp, (ROWS, -1), (GONE, -1)),
    "scaled_dot_product_attention": (F.scaled_dot_product_attention, (ROWS, ROWS, ROWS),
        (torch.eye(3), torch.eye(3), torch.eye(3), NOTHING)),
    "mean": (torch.mean, (ROWS,), (torch.zeros(0),)),
    "cross_entropy": (F.cross_entropy, (ROWS, torch.tensor([0, 2])), (ROWS, torch.tensor([-100, -100]))),
    "nll_loss": (F.nll_loss, (ROWS.log_softmax(-1), torch.tensor([0, 2])),
        (ROWS.log_softmax(-1), torch.tensor([-100, -100]))),
    "layer_norm": (F.layer_norm, (ROWS, (3,)), (torch.ones(2, 3), (3,), None, None, 0.0)),
}  # fmt: skip
ALWAYS = {"norm", "linalg_vector_norm", "cdist", "pairwise_distance", "normalize", "cosine_similarity", "std", "var"}
"""Their values are moved by eps everywhere: within 1e-5, not bit for bit."""
ALIKE = {"pow", "div", "log", "acos", "asin", "atanh", "exp", "softmax", "cross_entropy", "layer_norm", "sqrt", "mean"}


def run(name: str, args: tuple[Any, ...]) -> tuple[Tensor, bool]:
    function = CASES[name][0]
    return exchanged(FORMS[name.removeprefix("r") if name == "rtruediv" else name], function, args, {}, 1e-6)


@pytest.mark.parametrize("name", CASES)
def test_inside_the_domain_nothing_changes(name):
    function, inside, _ = CASES[name]
    made, changed = run(name, tuple(a.clone() if isinstance(a, Tensor) else a for a in inside))
    wanted = function(*inside)
    if name in ALWAYS:
        torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5)
    elif name == "layer_norm":
        assert same_bits(made, F.layer_norm(*inside, eps=1e-5))
    else:
        assert same_bits(made, wanted)
        assert not changed


@pytest.mark.parametrize("name", CASES)
def test_at_the_edge_value_and_gradient_are_finite(name):
    edge = CASES[name][2]
    given = tuple(
        a.clone().requires_grad_(name != "floor_divide") if isinstance(a, Tensor) and a.is_floating_point() else a
        for a in edge
    )
    made, changed = run(name, given)
    assert changed
    assert bool(torch.isfinite(made).all())
    if made.requires_grad:
        made.sum().backward()
    assert all(bool(torch.isfinite(a.grad).all()) for a in given if isinstance(a, Tensor) and a.grad is not None)


@pytest.mark.parametrize("name", sorted(ALIKE - {"layer_norm"}))
def test_torch_alone_is_not_finite_there(name):
    function, _, edge = CASES[name]
    given = tuple(a.clone().requires_grad_() if isinstance(a, Tensor) and a.is_floating_point() else a for a in edge)
    made = function(*given)
    if bool(torch.isfinite(made).all()):
        made.sum().backward()
        assert not all(
            bool(torch.isfinite(a.grad).all()) for a in given if isinstance(a, Tensor) and a.grad is not None
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_an_epsilon_that_the_dtype_cannot_hold_is_its_smallest_normal_number(dtype):
    made, changed = exchanged(FORMS["log"], torch.log, (torch.zeros(2, dtype=dtype),), {}, 1e-30)
    assert changed
    assert bool(torch.isfinite(made).all())


def test_whole_powers_keep_their_sign_and_an_exponent_is_no_base():
    negative = torch.tensor([-2.0, -3.0])
    for power in (2, 3, 2.0, 0, -1):
        made, changed = exchanged(FORMS["pow"], torch.pow, (negative, power), {}, 1e-6)
        assert same_bits(made, negative**power)
        assert not changed
    made, changed = exchanged(FORMS["pow"], Tensor.__rpow__, (negative, 2.0), {}, 1e-6)
    assert same_bits(made, 2.0**negative)
    assert not changed


def test_every_form_belongs_to_a_family_or_is_its_own():
    assert set().union(*FAMILIES) & FORMS.keys() >= {
        "log",
        "sqrt",
        "div",
        "pow",
        "exp",
        "softmax",
        "mean",
        "cross_entropy",
        "layer_norm",
    }
    assert all("{" not in form.words.format(eps="1", sqrt_eps="1") for form in FORMS.values())
