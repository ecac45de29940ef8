"""What an expression did to make NaN or Inf of finite values: read from the expression, and from what its parts are."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass
from typing import Any

import torch

from debugtracer.callsites.origins.value_origin import last_write
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.replay.fetch.descent import Origin
from debugtracer.replay.fetch.expressions import MISSING, operands
from debugtracer.replay.fetch.values import is_bad, largest, mask_of, parts_of, plain
from debugtracer.trace.pipeline_birth import PipelineKind

DIVIDES = frozenset({"div", "divide", "true_divide", "div_", "floor_divide", "remainder", "fmod", "reciprocal"})
SPREADS = frozenset({
    "std", "var", "nanstd", "nanvar", "stdev", "pstdev", "variance", "pvariance", "std_mean", "var_mean", "ptp", "mad",
    "quantile", "percentile", "sem",
})  # fmt: skip
NORMS = frozenset({"norm", "vector_norm", "hypot", "dist"})
EDGES = frozenset({"max", "min", "amax", "amin", "nanmax", "nanmin", "aminmax"})
LOGS = frozenset({"log", "log2", "log10", "log1p", "log_", "log2_", "log10_", "log1p_", "xlogy"})
DOMAINS = frozenset({
    "sqrt", "sqrt_", "rsqrt", "arcsin", "arccos", "asin", "acos", "arccosh", "acosh", "arctanh", "atanh", "logit",
    "gammaln", "lgamma", "logit_", "erfinv", "arctanh_",
})  # fmt: skip
POWERS = frozenset({"pow", "power", "float_power", "pow_"})
EXPS = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "softmax", "exp_", "logsumexp"})
STATISTICS = frozenset({"mean", "nanmean", "average", "median", "std", "var", "nanstd", "nanvar", "nanmedian"})
EMPTIES = frozenset({"empty", "empty_like", "new_empty", "ndarray", "FloatTensor", "Tensor"})
LARGEST_HALF = 65504.0


@dataclass(frozen=True)
class OriginKind:
    """What it did, and the operands that matter, by name."""

    kind: PipelineKind
    operands: tuple[tuple[str, Any], ...]
    divisor: ast.expr | None = None
    """The expression that it divides by."""
    argument: ast.expr | None = None
    """The one argument of a logarithm or another function with a domain."""
    divisor_text: str = ""
    """The expression that gave the divisor, on another line."""


def kind_of(origin: Origin) -> OriginKind:
    """Classify the origin of a bad value."""
    node, names = origin.node, origin.names
    parts = [(one, names.value(one)) for one in operands(node)]
    known = tuple((ast.unparse(one), value) for one, value in parts if value is not MISSING and holds_numbers(value))
    if origin.stored:
        return OriginKind("stored", ())
    if is_written(node, parts):
        return OriginKind("written", known)
    if origin.result is MISSING or not is_bad(origin.result):  # it reads on, draws, or counts
        return OriginKind("unknown", known)
    if isinstance(node, ast.BinOp):
        return of_operator(node, origin, known)
    if isinstance(node, ast.Call):
        return of_call(node, origin, parts, known)
    return OriginKind("unknown", known)


def of_operator(node: ast.BinOp, origin: Origin, known: tuple[tuple[str, Any], ...]) -> OriginKind:
    """An operator: a division, a power, else one that leaves the range."""
    if isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
        return divided(node.right, origin, known)
    if isinstance(node.op, ast.Pow):
        base = origin.names.value(node.left)
        return OriginKind("power" if below_zero(base) else overflowed(origin), known, argument=node.left)
    return OriginKind(overflowed(origin), known)


def of_call(
    node: ast.Call, origin: Origin, parts: list[tuple[ast.expr, Any]], known: tuple[tuple[str, Any], ...]
) -> OriginKind:
    """A call: by the name of the function and what it was given."""
    word = final_name(node.func)
    given = [one for one, value in parts if value is not MISSING and holds_numbers(value)]
    first = given[0] if given else None
    value = origin.names.value(first) if first is not None else None
    if word in DIVIDES and given:
        return divided(given[-1], origin, known)
    if word in EMPTIES:
        return OriginKind("uninitialised", known)
    if word in STATISTICS and value is not None:
        count = sum(plain(p).numel() for p in parts_of(value))
        if count == 0:
            return OriginKind("empty", known, argument=first)
        if count == 1:
            return OriginKind("few", known, argument=first)
    if word in LOGS:
        return OriginKind("log", known, argument=first)
    if word in DOMAINS:
        return OriginKind("domain", known, argument=first)
    if word in POWERS:
        return OriginKind("power" if below_zero(value) else overflowed(origin), known, argument=first)
    if word in EXPS:
        return OriginKind("exp", known, argument=first)
    if not given:
        return OriginKind("stored", ())  # a file that is read, a text that is parsed
    cast = halved(origin) or (torch_dtype(origin.result) and overflows_dtype(value, origin.result))
    if cast or word in ("matmul", "dot", "sum", "cumsum", "prod", "cumprod", "mul", "multiply", "square"):
        return OriginKind(overflowed(origin), known, argument=first)
    return OriginKind("unknown", known, argument=first)


def divided(by: ast.expr, origin: Origin, known: tuple[tuple[str, Any], ...]) -> OriginKind:
    """A division: what the divisor is, also where another line has computed it."""
    value = origin.names.value(by)
    if value is not MISSING and not has_zero(value):
        return OriginKind(overflowed(origin), known)
    made, text = meaning(by, origin)
    words = {final_name(n.func) for n in ast.walk(made) if isinstance(n, ast.Call)}
    kind: PipelineKind = "division"
    if words & SPREADS or (len(words & EDGES) and any(isinstance(n, ast.Sub) for n in ast.walk(made))):
        kind = "spread"
    elif words & NORMS:
        kind = "norm"
    return OriginKind(kind, known, divisor=by, divisor_text=text)


def meaning(node: ast.expr, origin: Origin) -> tuple[ast.expr, str]:
    """The expression that a divisor stands for, followed through plain names and `self.x`; its text where it is another
    one."""
    made, text = node, ""
    for _ in range(4):
        name = next((n for n in ast.walk(made) if isinstance(n, (ast.Name, ast.Attribute)) and is_plain(made, n)), None)
        written = written_as(name, origin) if name is not None else None
        if written is None:
            break
        made, text = written, ast.unparse(written)
    return made, text


def is_plain(whole: ast.expr, part: ast.expr) -> bool:
    """True for a name that is the whole expression, but for an index."""
    while isinstance(whole, ast.Subscript):
        whole = whole.value
    return whole is part


def written_as(node: ast.expr, origin: Origin) -> ast.expr | None:
    """The expression that was last written to a name in this function, or to `self.x` in its class."""
    program, line = origin.executed.statement.program, origin.executed.statement.line
    scope = program.function(origin.executed.statement.node)
    if isinstance(node, ast.Name) and not isinstance(scope, ast.Lambda):
        found = last_write(program, scope, node.id, line)
        if found is None or found.value is None:
            return None
        return found.value
    if isinstance(node, ast.Attribute):
        text = ast.unparse(node)
        every = [
            n.value
            for n in program.nodes
            if isinstance(n, ast.Assign) and any(ast.unparse(t) == text for t in n.targets)
        ]
        return every[-1] if every else None
    return None


def is_written(node: ast.expr, parts: list[tuple[ast.expr, Any]]) -> bool:
    """True where the program writes NaN or Inf out: `np.nan`, `float("inf")`."""
    if isinstance(node, (ast.Constant, ast.Attribute)):
        return True
    text = [n for n, _ in parts if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return isinstance(node, ast.Call) and final_name(node.func) in ("float", "tensor", "Decimal") and bool(text)


def holds_numbers(value: Any) -> bool:
    """Whether a value holds a number; a flag is none."""
    return any(not isinstance(part, bool) for part in parts_of(value))


def has_zero(value: Any) -> bool:
    """Whether any number in it is 0."""
    return any(bool((plain(part) == 0).any()) for part in parts_of(value))


def below_zero(value: Any) -> bool:
    """Whether any number in it is negative."""
    return value is not MISSING and any(
        not plain(part).is_complex() and bool((plain(part) < 0).any()) for part in parts_of(value)
    )


def torch_dtype(value: Any) -> torch.dtype | None:
    """The dtype of a result as torch has it; None where it is none of a number."""
    part = next(parts_of(value), None) if value is not MISSING else None
    return plain(part).dtype if part is not None else None


def halved(origin: Origin) -> bool:
    """True for a result in float16."""
    return torch_dtype(origin.result) == torch.float16


def overflows_dtype(value: Any, result: Any) -> bool:
    """Whether a value is larger than the dtype of the result can hold."""
    dtype, top = torch_dtype(result), largest(value)
    return dtype is not None and dtype.is_floating_point and top is not None and top > torch.finfo(dtype).max


def overflowed(origin: Origin) -> PipelineKind:
    """The kind of a result beyond the range: of float16, or of the dtype it has."""
    mask = mask_of(origin.result) if origin.result is not MISSING else None
    if mask is None:
        return "unknown"
    infinite = any(math.isinf(v) for v in infinities(origin.result))
    return "half" if halved(origin) else "overflow" if infinite else "unknown"


def infinities(value: Any) -> list[float]:
    """The first values that are not finite."""
    part = next(parts_of(value), None)
    if part is None:
        return []
    tensor = plain(part).double().reshape(-1)
    return [float(v) for v in tensor[~torch.isfinite(tensor)][:8].tolist()]
