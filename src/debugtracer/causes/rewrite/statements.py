"""Adds a statement before or after the line, or takes the graph off a value that is kept."""

from __future__ import annotations

import ast

from debugtracer.causes.rewrite.line import Line, NotUnderstood, operand, word

CLIP = 'torch.nn.utils.clip_grad_norm_([p for group in {optimizer}.param_groups for p in group["params"]], {norm:g})'


def stepped(line: Line) -> str:
    """The optimizer that the line steps: `X` of `X.step()` and of `scaler.step(X)`."""
    call = line.statement.value if isinstance(line.statement, (ast.Expr, ast.Assign)) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        raise NotUnderstood("no step() of an optimizer here")
    if call.args and isinstance(call.args[0], (ast.Name, ast.Attribute, ast.Subscript)):
        return line.text(call.args[0])
    if call.args or call.keywords:
        raise NotUnderstood("step() is given a closure")
    return line.text(call.func.value)


def zeroed(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """Add `X.zero_grad()` before the backward where the optimizer is known, else after its step."""
    if optimizer and backward(line):
        return (f"{optimizer}.zero_grad()", line.code)
    name = stepped(line)
    return (line.code, f"{name}.zero_grad()")


def clipped(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """The gradient norm clipped before the step, over what the optimizer holds."""
    if backward(line) and optimizer:
        return (line.code, CLIP.format(optimizer=optimizer, norm=value if value is not None else 1.0))
    return (CLIP.format(optimizer=stepped(line), norm=value if value is not None else 1.0), line.code)


def backward(line: Line) -> ast.Call | None:
    """The call of backward, when it is the whole line."""
    call = line.statement.value if isinstance(line.statement, ast.Expr) else None
    return call if isinstance(call, ast.Call) and word(call) == "backward" else None


def shared_out(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """The loss over the number of microbatches: `(loss / 4).backward()`. Needs the number."""
    call = backward(line)
    if call is None or value is None or not isinstance(call.func, ast.Attribute):
        raise NotUnderstood("no backward here, or the number of microbatches is not known")
    return line.replaced({call.func.value: f"({line.text(call.func.value)} / {value:g})"})


def detached(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """What is kept without its graph: `losses.append(loss.detach())`, `total += loss.detach()`."""
    statement = line.statement
    if isinstance(statement, ast.AugAssign):
        return line.replaced({statement.value: f"{line.chained(statement.value)}.detach()"})
    if (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and word(statement.value) == "append"
        and len(statement.value.args) == 1
    ):
        return line.replaced({statement.value.args[0]: f"{line.chained(statement.value.args[0])}.detach()"})
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Subscript, ast.Attribute, ast.Name)):
        return line.replaced({statement.value: f"{line.chained(statement.value)}.detach()"})
    raise NotUnderstood("nothing is kept here")


def out_of_place(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """A new tensor in the place of a write: `x += y` is `x = x + y`, `x.relu_()` is `x = x.relu()`."""
    statement = line.statement
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, (ast.Name, ast.Attribute)):
        target, sign = line.text(statement.target), SIGNS.get(type(statement.op))
        if sign is None:
            raise NotUnderstood("this assignment has no plain form here")
        right = line.text(statement.value)
        return (f"{target} = {target} {sign} {right if isinstance(statement.value, ATOMS) else f'({right})'}",)
    name = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    if (
        isinstance(name, ast.Attribute)
        and name.attr.endswith("_")
        and name.attr[0] != "_"
        and isinstance(name.value, (ast.Name, ast.Attribute))
    ):
        return (f"{line.text(name.value)} = {line.replaced({name: line.text(name)[:-1]})[0]}",)
    raise NotUnderstood("nothing is written in place here")


SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
JOINS = (ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)


def rooted(line: Line, value: float | None, op: str, optimizer: str) -> tuple[str, ...]:
    """The graph kept: `.detach()`, `.data` and `.item()` taken off a value that the loss needs; of `x + q - x` it stays
    on the difference."""
    cut: dict[ast.expr, str] = {}
    joined = {
        part for node in ast.walk(line.statement) if isinstance(node, JOINS) for part in ast.iter_child_nodes(node)
    }
    for node in ast.walk(line.statement):
        if isinstance(node, ast.Call) and word(node) in ("detach", "item") and not node.args:
            kept = operand(node)
            cut[node] = straight_through(line, kept) or line.text(kept)
        elif isinstance(node, ast.Attribute) and node.attr == "data":
            kept = node.value
            cut[node] = line.text(kept)
        else:
            continue
        if node in joined and not isinstance(kept, ATOMS):  # what follows or stands beside binds closer
            cut[node] = f"({cut[node]})"
    if len(cut) != 1:
        raise NotUnderstood(f"{len(cut)} places where the graph is cut; expected one")
    return line.replaced(cut)


def straight_through(line: Line, node: ast.expr) -> str:
    """The sum `x + q - x`, or `x + (q - x)`, with the difference detached; empty for anything else."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return ""
    left, right = node.left, node.right
    if isinstance(node.op, ast.Sub) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        x, q, same = left.left, left.right, right
    elif isinstance(node.op, ast.Add) and isinstance(right, ast.BinOp) and isinstance(right.op, ast.Sub):
        x, q, same = left, right.left, right.right
    else:
        return ""
    if ast.dump(x) != ast.dump(same):
        return ""
    return f"{line.text(x)} + ({line.text(q)} - {line.text(x)}).detach()"
