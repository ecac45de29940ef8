"""What a number is the sum or the mean of, and with which weight each element is in it."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor, nn

from debugtracer.observers.loss.loss_function import arguments
from debugtracer.trace.facts.loss_call import INDEXED, LOSSES

PRODUCTS = frozenset({"mul", "__mul__", "__rmul__", "multiply", "mul_", "__imul__"})
QUOTIENTS = frozenset({"div", "__truediv__", "true_divide", "divide", "div_", "__itruediv__"})
NEGATIVES = frozenset({"neg", "__neg__", "negative"})
CHANGES = PRODUCTS | QUOTIENTS | NEGATIVES
ALONE = ("Pow", "Mul", "Abs", "Neg", "Sqrt", "Sum", "Mean", "LinalgVectorNorm")  # nodes of penalties on weights
DEEP = 6  # of them between a weight and its penalty (ours)


class Reduction(NamedTuple):
    """How a tensor became one number."""

    how: str
    """sum, mean."""
    elements: int
    weight: float
    """Of each element in the number."""


def reduction_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor) -> Reduction | None:
    """The reduction that a call makes of a tensor, whole or along dimensions; None for other calls, for one element
    and for a penalty on weights, which has no rows."""
    given = args[0] if args else kwargs.get("input")
    if not isinstance(given, Tensor) or given.numel() < 2:
        return None
    if name in ("sum", "mean") and of_parameter(given):
        return None
    size = given.numel()
    if name in ("sum", "mean"):
        return Reduction(name, size, 1.0 if name == "sum" else output.numel() / size)
    if name not in LOSSES:
        return None
    bound = arguments(name, args, kwargs)
    if name in INDEXED:
        target = bound["target"]
        size = target.numel() if isinstance(target, Tensor) and not target.is_floating_point() else given.shape[0]
    how = bound["reduction"]
    if how == "sum":
        return Reduction(how, size, 1.0)
    if how == "batchmean":
        return Reduction("mean", size, 1 / max(given.shape[0], 1))
    return Reduction("mean", size, 1 / max(size, 1)) if how == "mean" else None


def of_parameter(value: Tensor) -> bool:
    """Whether a tensor is a parameter, or made of one alone, element by element."""
    node: Any = value.grad_fn
    for _ in range(DEEP):
        if node is None or not node.name().startswith(ALONE):
            break
        before = {function for function, _ in node.next_functions}
        node = before.pop() if len(before) == 1 else None
    return isinstance(value if value.grad_fn is None else getattr(node, "variable", None), nn.Parameter)


def reduced(known: Reduction, name: str, given: Tensor, output: Tensor) -> Reduction | None:
    """The reduction of a tensor that is one already along other dimensions: a sum where either is one."""
    if name not in ("sum", "mean") or not given.numel():
        return None
    weight = known.weight * (output.numel() / given.numel() if name == "mean" else 1.0)
    summed = known.how == "sum" or (name == "sum" and given.numel() > output.numel())
    return Reduction("sum" if summed else "mean", known.elements, weight)


def scaled(known: Reduction, name: str, args: tuple[Any, ...]) -> Reduction | None:
    """The reduction after a product with a number, a quotient by one or a change of sign; None for anything else."""
    if name in NEGATIVES:
        return known._replace(weight=-known.weight)
    factor = next((a for a in args if isinstance(a, (int, float)) and not isinstance(a, bool)), None)
    if factor is None or len(args) != 2:
        return None
    if name in PRODUCTS:
        return known._replace(weight=known.weight * factor)
    if name in QUOTIENTS and isinstance(args[0], Tensor) and factor:
        return known._replace(weight=known.weight / factor)
    return None
