"""Lines of a file that give an option, a key or a field of a name a number."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program


def option_lines(program: Program, name: str, number: float) -> Iterator[int]:
    """Yield lines that give an option of that name a number: `add_argument("--lr", default=0.1)`, `args.lr = 0.1`,
    `Config(lr=0.1)`, `{"lr": 0.1}`, a field `lr: float = 0.1`."""
    for node in program.nodes:
        if isinstance(node, ast.Call):
            yield from (k.value.lineno for k in node.keywords if k.arg == name and is_number(k.value, number))
            if final_name(node.func) == "add_argument" and option_of(node) == name:
                yield from (k.value.lineno for k in node.keywords if k.arg == "default" and is_number(k.value, number))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name and is_number(value, number):
                    yield value.lineno
        elif isinstance(node, ast.Assign) and is_number(node.value, number):
            for target in node.targets:
                held = isinstance(target, ast.Attribute) and target.attr == name
                keyed = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
                if held or (keyed and isinstance(target, ast.Subscript) and ast.unparse(target.slice) == repr(name)):
                    yield node.lineno
        elif isinstance(node, ast.ClassDef):
            yield from fields(node, name, number)


def fields(owner: ast.ClassDef, name: str, number: float) -> Iterator[int]:
    """Yield the lines of a class body that give a field of that name this number."""
    for node in owner.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        value = getattr(node, "value", None)
        named = any(isinstance(t, ast.Name) and t.id == name for t in targets)
        if named and value is not None and is_number(value, number):
            yield node.lineno


def option_of(call: ast.Call) -> str:
    """The name under which argparse keeps an option."""
    dest = next((k.value for k in call.keywords if k.arg == "dest"), None)
    if isinstance(dest, ast.Constant):
        return str(dest.value)
    words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = next((w for w in words if w.startswith("--")), words[0] if words else "")
    return long.lstrip("-").replace("-", "_")


def literal(node: ast.expr) -> float | None:
    """The number that is written out here; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_number(node: ast.expr, number: float) -> bool:
    """Whether this very number is written out here."""
    found = literal(node)
    return found is not None and math.isclose(found, number, rel_tol=1e-9)
