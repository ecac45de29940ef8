"""What an assignment to one name is made of, from the source."""

from __future__ import annotations

import ast
from typing import NamedTuple

from debugtracer.callsites.origins.value_origin import program_of

LOOKS = frozenset({
    "softmax", "softmin", "log_softmax", "sigmoid", "logsigmoid", "expit", "exp", "log", "log1p", "argmax", "argmin",
    "argsort", "round", "abs", "topk", "max", "min", "sort", "eq", "ne", "item", "numpy", "cpu", "detach", "clone",
    "tolist", "size", "decode", "denormalize", "unnormalize", "inverse_transform", "accuracy", "norm",
})  # fmt: skip
"""Functions by which a result is looked at, printed or measured: one that nobody reads is a leftover."""


FORMS = frozenset({"shape", "size", "device", "dtype", "dim", "ndim", "numel", "new_zeros", "new_ones", "new_full"})
"""What is asked of a tensor without its values."""
MOVES = frozenset({"to", "cuda", "cpu", "float", "long", "double", "half", "bool", "int"})


class Assigned(NamedTuple):
    """The right side of `name = ...`."""

    names: tuple[str, ...]
    """The plain names whose values it reads, each once, in the order of the text."""
    alias: bool
    """It is one name and nothing else."""
    look: bool
    """It compares, or ends in a function by which results are looked at."""
    taken: bool
    """It takes an entry of something that holds several, and computes nothing."""
    calls: frozenset[str]
    """The last words of what it calls."""


def assigned_value(file: str, line: int, name: str) -> Assigned | None:
    """The right side of the assignment to a name at a line; None where there is no plain one. Reads source."""
    program = program_of(file)
    for node in program.nodes if program is not None else ():
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and node.lineno == line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name:
                return described(node.value)
    return None


def described(value: ast.expr) -> Assigned:
    """Describe a right side."""
    above = {below: node for node in ast.walk(value) for below in ast.iter_child_nodes(node)}
    read = [n.id for n in ast.walk(value) if isinstance(n, ast.Name) and is_value(n, above.get(n))]
    calls = frozenset(last_word(n.func) for n in ast.walk(value) if isinstance(n, ast.Call))
    return Assigned(tuple(dict.fromkeys(read)), isinstance(value, ast.Name), is_look(value), is_entry(value), calls)


def is_value(name: ast.Name, above: ast.AST | None) -> bool:
    """Whether an expression reads the value under a name: not of a function that it calls, nor a shape or device."""
    if isinstance(above, ast.Call):
        return above.func is not name and not last_word(above.func).endswith("_like")
    return not (isinstance(above, ast.Attribute) and above.attr in FORMS)


def is_entry(value: ast.expr) -> bool:
    """Whether an expression is `batch["mask"]`, `outputs.logits` or `pair[0]`, on whatever device."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in MOVES:
        value = value.func.value
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Constant)
    return isinstance(value, ast.Attribute)


def is_look(value: ast.expr) -> bool:
    """Whether an expression is a comparison, or one of the functions, whatever its result is turned into."""
    while isinstance(value, (ast.Subscript, ast.Attribute)):
        value = value.value
    if isinstance(value, (ast.Compare, ast.BoolOp)):
        return True
    if not isinstance(value, ast.Call):
        return False
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    turned = isinstance(inner, (ast.Call, ast.Subscript)) and is_look(inner)
    return turned or last_word(value.func).lower() in LOOKS


def last_word(function: ast.expr) -> str:
    """Return `softmax` for F.softmax and x.softmax."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
