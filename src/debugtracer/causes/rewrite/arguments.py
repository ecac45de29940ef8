"""Keeps the argument of a function away from the edge of its domain or range."""

from __future__ import annotations

import ast

from debugtracer.causes.rewrite.line import Line, NotUnderstood, is_number, keyword, only, operand, word

TINY = {"float16": 1e-4}  # below 6e-5 float16 has no normal numbers; elsewhere 1e-8 and its inverse both fit
MARGIN = {"float16": 1e-3, "bfloat16": 1e-2}  # 1 - margin must not round to 1: 11 and 8 bits of mantissa
LOWER = {"log": "{v:g}", "log2": "{v:g}", "log10": "{v:g}", "log1p": "-1 + {v:g}", "sqrt": "{v:g}", "rsqrt": "{v:g}",
         "acosh": "1 + {v:g}",
         "reciprocal": "{v:g}", "lgamma": "{v:g}", "digamma": "{v:g}", "entr": "{v:g}"}  # fmt: skip
BOTH = ("acos", "asin", "atanh", "erfinv", "arccos", "arcsin", "arctanh")
GROWING = ("exp", "expm1", "exp2")
EXPONENT = {"float16": 10.0}  # exp(11.1) leaves float16; 20 is far inside the others and e**20 = 5e8 still adds up
CLAMPS = ("clamp", "clamp_min", "clamp_max", "clip")


def clamped(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The argument of this op within bounds: `p.log()` is `p.clamp_min(1e-08).log()`."""
    op = op.removeprefix("special_")
    if op in ("pow", "float_power"):
        return base_clamped(line, value, dtype)
    if op == "xlogy":
        return line.replaced(
            {node: at_least(line, node, f"{tiny(value, dtype):g}") for node in only([line.call(op).args[-1]], line)}
        )
    if op == "logit":
        return with_eps(line, line.call(op), value if value is not None else MARGIN.get(dtype, 1e-6))
    found = line.calls(op)
    if not found:
        raise NotUnderstood(f"no call of {op}")
    return line.replaced({operand(call): bounded(line, operand(call), op, value, dtype) for call in found})


def logs_clamped(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Every logarithm of the line: for 0 * log(0), where the product is the op of birth."""
    found = {call: word(call).rstrip("_") for call in line.calls("log", "log2", "log10", "log1p")}
    return line.replaced(
        {operand(call): bounded(line, operand(call), name, value, dtype) for call, name in found.items()}
    )


def bounded(line: Line, node: ast.expr, op: str, value: float | None, dtype: str) -> str:
    """Bring one argument within the bounds of its function. Raises NotUnderstood."""
    if op in LOWER:
        near = op in ("log1p", "acosh")
        margin = (
            value
            if value is not None
            else MARGIN.get(dtype, 1e-6)
            if near
            else 1e-12
            if op == "sqrt" and dtype not in TINY
            else tiny(None, dtype)
        )
        return at_least(line, node, LOWER[op].format(v=margin))
    if op in BOTH:
        margin = value if value is not None else MARGIN.get(dtype, 1e-6)
        return f"{inner(line, node, 'clamp', 'clip')}.clamp(-1 + {margin:g}, 1 - {margin:g})"
    if op in GROWING:
        return f"{inner(line, node, 'clamp_max')}.clamp_max({largest(value, dtype):g})"
    if op in ("sinh", "cosh"):
        limit = largest(value, dtype)
        return f"{inner(line, node, 'clamp', 'clip')}.clamp(-{limit:g}, {limit:g})"
    raise NotUnderstood(f"{op} has no bounds here")


def base_clamped(line: Line, value: float | None, dtype: str) -> tuple[str, ...]:
    """The base of a power: `x ** p`, `x.pow(p)`, `torch.pow(x, p)`; squares need none."""
    powers = [n for n in ast.walk(line.statement) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow)]
    bases = [n.left for n in powers if not is_whole(n.right) and not is_number(n.left)]
    bases += [
        operand(call) if len(call.args) > 1 else receiver(call)
        for call in line.calls("pow")
        if call.args and not is_whole(call.args[-1])
    ]
    return line.replaced({node: at_least(line, node, f"{tiny(value, dtype):g}") for node in only(bases, line)})


def at_least(line: Line, node: ast.expr, bound: str) -> str:
    """The part with a lower bound, in the place of a literal one that it has already."""
    return f"{inner(line, node, 'clamp_min')}.clamp_min({bound})"


def inner(line: Line, node: ast.expr, *words: str) -> str:
    """The part to clamp; of one that is clamped to literals in the same way already what was clamped."""
    if (
        isinstance(node, ast.Call)
        and word(node) in words
        and isinstance(node.func, ast.Attribute)
        and node.args
        and all(map(is_number, node.args))
    ):
        node = node.func.value
    return line.chained(node)


def with_eps(line: Line, call: ast.Call, eps: float) -> tuple[str, ...]:
    """Set `eps=` of a call, or add it at the end."""
    given = keyword(call, "eps")
    if given is not None:
        return line.replaced({given: f"{eps:g}"})
    return line.replaced({call: f"{line.text(call)[:-1].rstrip().rstrip(',')}, eps={eps:g})".replace("(, ", "(")})


def receiver(call: ast.Call) -> ast.expr:
    """Return `x` of the method call `x.f(...)`. Raises NotUnderstood for a function."""
    if isinstance(call.func, ast.Attribute):
        return call.func.value
    raise NotUnderstood(f"{word(call)} is no method")


def is_whole(node: ast.expr) -> bool:
    """True for a literal whole exponent, which has no domain to leave."""
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value == int(node.value)


def tiny(value: float | None, dtype: str) -> float:
    """The smallest distance from 0 that this dtype can hold and invert."""
    return value if value is not None else TINY.get(dtype, 1e-8)


def largest(value: float | None, dtype: str) -> float:
    """The largest exponent: the one given, unless it is a distance from an edge that a trial kept."""
    return value if value is not None and value >= 1 else EXPONENT.get(dtype, 20.0)


def as_float(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The op in float32: `x.pow(2)` is `x.float().pow(2)`; where the line itself goes to half, `.half()` is
    `.float()`."""
    halves = [half.func for half in line.calls("half") if isinstance(half.func, ast.Attribute) and not half.args]
    if halves:
        return line.replaced({name: f"{line.text(name)[: -len('half')]}float" for name in halves})
    call = line.call(op)
    node = operand(call)
    return line.replaced({node: f"{line.chained(node)}.float()"})
