"""Which torch functions have an edge (of their domain or of overflow), which argument comes near it, and how near."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.trace.facts.domain_edges import EdgeKind
from debugtracer.trace.op import LOG_EDGES

LOGS = {**LOG_EDGES, "special_log1p": LOG_EDGES["log1p"]}
EXPS = {"exp": 1.0, "expm1": 1.0, "special_expm1": 1.0, "exp2": math.log(2), "special_exp2": math.log(2)}
DIVISIONS = frozenset(
    {"div", "true_divide", "divide", "__truediv__", "__itruediv__", "div_", "true_divide_", "divide_"}
)
INVERSES = frozenset({"reciprocal", "__rdiv__", "__rtruediv__", "rsqrt"})
ANGLES = frozenset({"acos", "arccos", "asin", "arcsin", "atanh", "arctanh"})
POWERS = frozenset({"pow", "__pow__", "float_power"})
WATCHED = LOGS.keys() | EXPS.keys() | DIVISIONS | INVERSES | ANGLES | POWERS | {"sqrt"}


class DomainMargin(NamedTuple):
    """The argument of a call that can come near an edge."""

    op: str
    kind: EdgeKind
    given: Tensor
    at: float = 0.0
    """Where the edge lies (log1p: -1), or what an input of exp is multiplied by."""


def margin_of(name: str, args: tuple[Any, ...]) -> DomainMargin | None:
    """The argument to look at; None for a call that cannot leave its domain."""
    given = args[1] if name in DIVISIONS and len(args) > 1 else args[0] if args else None
    if not isinstance(given, Tensor) or not given.is_floating_point() or not given.numel():
        return None
    if name in LOGS:
        return DomainMargin(name.removeprefix("special_"), "zero", given, LOGS[name])
    if name in EXPS:
        return DomainMargin(name.removeprefix("special_"), "overflow", given, EXPS[name])
    if name in DIVISIONS or name in INVERSES:
        return DomainMargin("div" if name in DIVISIONS or "div" in name else name, "zero", given)
    if name in POWERS:
        power = args[1] if len(args) > 1 else None
        if not isinstance(power, (int, float)) or power >= 1 or power == 0:
            return None
        return DomainMargin("pow", "zero" if power < 0 else "root", given)
    return DomainMargin(name, "unit" if name in ANGLES else "root", given)


def distance_of(margin: DomainMargin) -> Tensor:
    """The least distance of an input to the edge, one value on its device; negative beyond it. Call under no_grad."""
    given = margin.given.detach()
    if margin.kind == "overflow":
        return limit_of(margin) - given.amax().double()
    if margin.kind == "unit":
        return 1.0 - given.abs().amax().double()
    # a negative denominator is as good
    signed = margin.op in ("div", "reciprocal") or (margin.op == "pow" and margin.kind == "zero")
    return (given.abs() if signed else given).amin().double() - margin.at


def limit_of(margin: DomainMargin) -> float:
    """The largest input of exp whose value is finite."""
    return math.log(torch.finfo(margin.given.dtype).max) / margin.at


def grain_of(margin: DomainMargin, offset: float = 0.0) -> float:
    """The least distance an input can have: the smallest number of its dtype, or the rounding of the number it was
    subtracted from."""
    told = torch.finfo(margin.given.dtype)
    around = max(abs(offset), abs(margin.at) if margin.kind == "zero" else 0.0, 1.0 if margin.kind == "unit" else 0.0)
    least = told.smallest_normal if margin.given.dtype is not torch.float16 else 2.0**-24
    return max(around * told.eps / 2, least)
