"""Gives a loss what it expects: scores instead of probabilities, a shape, a divisor, scores that a mask left finite."""

from __future__ import annotations

import ast

from debugtracer.causes.rewrite.arguments import receiver
from debugtracer.causes.rewrite.line import Line, NotUnderstood, is_number, keyword, operand, word
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE


def raw_scores(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Replace probabilities by scores: `F.cross_entropy(torch.softmax(x, 1), y)` becomes `F.cross_entropy(x, y)`.

    A sigmoid before a loss with logits goes likewise. A head that returns probabilities, `return F.softmax(x, dim=-1)`,
    returns the scores."""
    returned = line.statement.value if isinstance(line.statement, ast.Return) else None
    if isinstance(returned, ast.Call) and word(returned) == "softmax":
        return line.replaced({returned: line.text(operand(returned))})
    loss = line.call("cross_entropy", "binary_cross_entropy_with_logits")
    made = operand(loss)
    if isinstance(made, ast.Call) and word(made) == ("softmax" if word(loss) == "cross_entropy" else "sigmoid"):
        return line.replaced({made: line.text(operand(made))})
    raise NotUnderstood("the probabilities are not made on this line")


def log_of_scores(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Replace log of softmax by log_softmax, never log of 0: `x.softmax(1).log()` becomes `x.log_softmax(1)`."""
    logs = [
        call
        for call in line.calls("log")
        if isinstance(operand(call), ast.Call) and word(operand(call)) == "softmax"  # type: ignore[arg-type]
    ]
    if len(logs) != 1:
        raise NotUnderstood("no logarithm of a softmax here")
    made = operand(logs[0])
    assert isinstance(made, ast.Call)
    text, name = line.text(made), made.func
    begin = len(line.text(name)) - len("softmax")
    return line.replaced({logs[0]: f"{text[:begin]}log_{text[begin:]}"})


def class_dim(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """A log_softmax over the batch (dim 0) runs over the classes."""
    call = line.call("log_softmax")
    given = keyword(call, "dim") or (call.args[-1] if call.args else None)
    if not isinstance(given, ast.Constant) or given.value != 0:
        raise NotUnderstood("it does not run over dimension 0")
    return line.replaced({given: "-1"})


def same_shape(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Give one input the shape of the other: `F.mse_loss(a, b.view_as(a))`, `F.mse_loss(model(x).view_as(y), y)`."""
    loss = line.call(*ELEMENTWISE, *BINARY)
    if len(loss.args) < 2:
        raise NotUnderstood(f"{word(loss)} is called with keywords")
    one, other = loss.args[:2]
    if not isinstance(one, (ast.Name, ast.Attribute)):  # what is computed here must not be computed twice
        one, other = other, one
    if not isinstance(one, (ast.Name, ast.Attribute)):
        raise NotUnderstood("neither has a name")
    return line.replaced({other: f"{line.chained(other)}.view_as({line.text(one)})"})


def counted_targets(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """The mean over at least one target: the sum divided by the number of targets that count, at least 1."""
    loss = line.call("cross_entropy", "nll_loss")
    if len(loss.args) != 2 or {k.arg for k in loss.keywords} - {"ignore_index"}:
        raise NotUnderstood(f"{word(loss)} has further arguments")
    ignored = keyword(loss, "ignore_index")
    label = line.text(ignored) if ignored is not None else "-100"
    text = f'{line.text(loss)[:-1]}, reduction="sum") / ({line.chained(loss.args[1])} != {label}).sum().clamp_min(1)'
    whole = getattr(line.statement, "value", None) is loss
    return line.replaced({loss: text if whole else f"({text})"})


def finite_mask(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """A large negative number in the place of -inf: -10000 fits every dtype and its exponential is 0."""
    found = [node for node in ast.walk(line.statement) if isinstance(node, ast.expr) and is_minus_inf(node, line)]
    outer = [node for node in found if not any(node is not other and node in ast.walk(other) for other in found)]
    if len(outer) != 1:
        raise NotUnderstood(f"{len(outer)} times -inf; expected one")
    return line.replaced({outer[0]: f"{floor(value):g}"})


def floor_scores(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """A floor under the scores of a softmax: a row of -inf becomes a row of equal scores, and others stay as they
    are."""
    call = line.call("softmax", "log_softmax")
    return line.replaced({operand(call): f"{line.chained(operand(call))}.clamp_min({floor(value):g})"})


def floor(value: float | None) -> float:
    """The score of what is masked: the one given, unless it is a distance from an edge that a trial kept."""
    return value if value is not None and value < 0 else -1e4


def is_minus_inf(node: ast.expr, line: Line) -> bool:
    """True for `float("-inf")`, `-float("inf")`, `-torch.inf` and `-math.inf`."""
    text = line.text(node).replace(" ", "").replace("'", '"')
    if isinstance(node, ast.Call):
        return text in ('float("-inf")', 'float("-Inf")', 'float("-infinity")')
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and (text == '-float("inf")' or text.endswith(".inf"))
    )


def safe_branch(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """A safe argument in the branch that where() does not select:
    `torch.where(m, torch.log(torch.where(m, x, 1)), 0)`."""
    where = line.call("where")
    if len(where.args) != 3 or not isinstance(where.func, ast.Attribute) or is_number(where.args[0]):
        raise NotUnderstood("no where(condition, a, b) here")
    inside = [call for call in line.calls(op) if any(call in ast.walk(branch) for branch in where.args[1:2])]
    if len(inside) != 1:
        raise NotUnderstood(f"no {op} in the selected branch")
    argument, condition = operand(inside[0]), where.args[0]
    safe = (
        f"{line.text(where.func)}({line.text(condition)}, {line.text(argument)}, {value if value is not None else 1:g})"
    )
    return line.replaced({argument: safe})


def allocated(line: Line, value: float | None, op: str, dtype: str) -> tuple[str, ...]:
    """Replace unfilled memory by zeros: torch.zeros for torch.empty, likewise new_zeros and zeros_like."""
    call = line.call("empty", "empty_like", "new_empty")
    name = call.func
    if not isinstance(name, ast.Attribute):
        raise NotUnderstood("empty is imported by name")
    return line.replaced({name: f"{line.text(receiver(call))}.{name.attr.replace('empty', 'zeros')}"})
