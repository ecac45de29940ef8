"""Every edit, asked of PyTorch itself: the line as it was goes bad, the rewritten line does not, and a healthy value is
left as it was."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.causes.rewrite.rewritten import EDITS, rewritten
from tests.each import each

INF = math.inf
HEALED = {
    "log": ("y = torch.log(x)", "clamp-argument", "log", [0.0, 0.5]),
    "log of a negative number": ("y = x.log()", "clamp-argument", "log", [-1.0, 0.5]),
    "log10 in place": ("y = x.clone().log10_()", "clamp-argument", "log10", [0.0, 0.5]),
    "log1p": ("y = torch.log1p(-x)", "clamp-argument", "log1p", [1.0, 0.5]),
    "sqrt in backward": ("y = (x * x).sqrt()", "clamp-argument", "sqrt", [0.0, 0.5]),
    "sqrt of a clamped number": ("y = torch.sqrt(x.clamp_min(0.0))", "clamp-argument", "sqrt", [0.0, 0.5]),
    "rsqrt": ("y = torch.rsqrt(x)", "clamp-argument", "rsqrt", [0.0, 0.5]),
    "acos": ("y = torch.acos(x.clamp(-1.0, 1.0))", "clamp-argument", "acos", [1.0, 0.5]),
    "asin": ("y = x.asin()", "clamp-argument", "asin", [-1.0, 0.5]),
    "atanh": ("y = x.atanh()", "clamp-argument", "atanh", [1.0, 0.5]),
    "acosh": ("y = torch.acosh(x)", "clamp-argument", "acosh", [1.0, 1.5]),
    "erfinv": ("y = torch.erfinv(x)", "clamp-argument", "erfinv", [1.0, 0.5]),
    "logit": ("y = torch.logit(x)", "clamp-argument", "logit", [1.0, 0.5]),
    "lgamma": ("y = torch.lgamma(x)", "clamp-argument", "lgamma", [0.0, 0.5]),
    "digamma": ("y = torch.digamma(x)", "clamp-argument", "digamma", [0.0, 0.5]),
    "entr": ("y = torch.special.entr(x)", "clamp-argument", "special_entr", [0.0, 0.5]),
    "xlogy": ("y = torch.xlogy(x, x)", "clamp-argument", "xlogy", [0.0, 0.5]),
    "reciprocal": ("y = x.reciprocal()", "clamp-argument", "reciprocal", [0.0, 0.5]),
    "power": ("y = x ** 0.3", "clamp-argument", "pow", [-1.0, 0.5]),
    "power at 0 in backward": ("y = torch.pow(x, 0.5)", "clamp-argument", "pow", [0.0, 0.5]),
    "exp": ("y = torch.exp(x)", "clamp-argument", "exp", [100.0, 0.5]),
    "sinh": ("y = x.sinh()", "clamp-argument", "sinh", [-100.0, 0.5]),
    "the branch that where does not select": (
        "y = torch.where(x > 0, torch.log(x), 0.0)",
        "safe-branch",
        "log",
        [0.0, 0.5],
    ),
    "0 * log(0)": ("y = x * torch.log(x) + (1 - x) * torch.log1p(-x)", "clamp-logs", "mul", [0.0, 0.5]),
    "0 * log1p(-1)": ("y = x * torch.log(x) + (1 - x) * torch.log1p(-x)", "clamp-logs", "mul", [1.0, 0.5]),
    "division": ("y = x / x.detach()", "guard-divisor", "div", [0.0, 0.5]),
    "division by a norm": ("y = x / x.abs().detach()", "guard-divisor", "div", [0.0, 0.5]),
    "div()": ("y = torch.div(x, x.detach())", "guard-divisor", "div", [0.0, 0.5]),
    "div() as a method": ("y = x.div(x.detach())", "guard-divisor", "div", [0.0, 0.5]),
    "division in place": ("y /= x.detach()", "guard-divisor", "div", [0.0, 0.5]),
    "1 / x": ("y = 1.0 / x", "guard-divisor", "reciprocal", [0.0, 0.5]),
    "reciprocal as a division": ("y = torch.reciprocal(x)", "guard-divisor", "reciprocal", [0.0, 0.5]),
    "log of a softmax": ("y = torch.log(torch.softmax(x, dim=0))", "log-of-scores", "log", [0.0, 200.0]),
    "a row of -inf": ("y = torch.softmax(x, dim=-1)", "floor-scores", "softmax", [-INF, -INF]),
    "a row that a mask leaves empty": (
        "y = torch.softmax(x.masked_fill(x < 9, float('-inf')), dim=-1)",
        "finite-mask",
        "softmax",
        [1.0, 2.0],
    ),
    "standard deviation of one value": ("y = x[:1].std()", "population-spread", "std", [1.0, 2.0]),
    "no target counts": ("y = F.cross_entropy(x[None], t, ignore_index=-1)", "counted-targets", "nll_loss", [1.0, 2.0]),
    "an eps of 0": ("y = F.normalize(x, dim=0, eps=0.0)", "larger-eps", "div", [0.0, 0.0]),
    "layer norm without eps": ("y = F.layer_norm(x, (2,), eps=0.0)", "larger-eps", "native_layer_norm", [1.0, 1.0]),
    "a power in half": ("y = x.half() ** 4", "as-float", "pow", [100.0, 0.5]),
}


def run(code: str, numbers: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Value and gradient of a line that makes y of x."""
    x = torch.tensor(numbers, requires_grad=True)
    scope = {"torch": torch, "F": torch.nn.functional, "x": x, "y": x.clone(), "t": torch.tensor([-1])}
    exec(code, scope)
    value = scope["y"].float()
    value.sum().backward()
    return value.detach(), x.grad


def healthy(code: str, numbers: list[float]) -> bool:
    value, grad = run(code, numbers)
    return bool(value.isfinite().all() and grad.isfinite().all())


@pytest.mark.parametrize("name", HEALED)
def test_the_line_goes_bad_and_the_rewritten_line_does_not(name):
    code, edit, op, numbers = HEALED[name]
    after = rewritten(code, edit, op=op)
    assert after is not None and len(after) == 1
    assert not healthy(code, numbers)
    assert healthy(after[0], numbers), after


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (_, edit, _, _) in HEALED.items()
        if edit in ("clamp-argument", "clamp-logs", "guard-divisor", "safe-branch")
    ],
)
def test_a_healthy_number_is_left_as_it_was(name):
    code, edit, op, numbers = HEALED[name]
    after = rewritten(code, edit, op=op)
    assert after is not None
    torch.testing.assert_close(run(after[0], numbers[1:]), run(code, numbers[1:]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("dtype", "op", "at"),
    [("float16", "log", 0.0), ("float16", "acos", 1.0), ("bfloat16", "acos", 1.0), ("float16", "exp", 100.0)],
)
def test_a_bound_fits_the_dtype(dtype, op, at):
    x = torch.tensor([at], dtype=getattr(torch, dtype), requires_grad=True)
    after = rewritten(f"y = x.{op}()", "clamp-argument", op=op, dtype=dtype)
    assert after is not None
    scope = {"x": x}
    exec(after[0], scope)
    scope["y"].sum().backward()
    assert scope["y"].isfinite().all() and x.grad.isfinite().all()


def test_a_value_that_was_tried_is_written_down():
    assert rewritten("y = x.log()", "clamp-argument", 1e-3, op="log") == ("y = x.clamp_min(0.001).log()",)
    assert rewritten("y = x / n", "guard-divisor", 1e-6, op="div") == ("y = x / (n + 1e-06)",)


def test_a_distance_from_an_edge_is_no_exponent_no_count_and_no_score():
    assert rewritten("y = x.exp()", "clamp-argument", 1e-6, op="exp") == ("y = x.clamp_max(20).exp()",)
    assert rewritten("y = x / n", "guard-divisor", 1e-6, op="div", dtype="int64") == ("y = x / n.clamp_min(1)",)
    assert rewritten("y = x.softmax(1)", "floor-scores", 1e-6, op="softmax") == ("y = x.clamp_min(-10000).softmax(1)",)


@each("edit", EDITS)
@pytest.mark.parametrize(
    "code", ["x = torch.log(", "pass", "else:", "y = 3", "import torch", "x: int", "f()", "y = x", "@decorated"]
)
def test_a_line_that_is_not_understood_is_no_line(code, edit):
    # a plain assignment can be kept without its graph
    assert rewritten(code, edit, op="log") in (None, ("y = x.detach()",))


def test_several_divisors_that_differ_are_not_guessed_at_and_equal_ones_are_all_guarded():
    assert rewritten("y = a / b + c / d", "guard-divisor", op="div") is None
    assert rewritten("y = a / b + c / b", "guard-divisor", op="div") == ("y = a / (b + 1e-08) + c / (b + 1e-08)",)
    assert rewritten("y = a / b / 2 + c / 3.0", "guard-divisor", op="div") == ("y = a / (b + 1e-08) / 2 + c / 3.0",)
