"""The line that writes one value into a whole row: `labels[:] = -100`. The source is read, nothing is executed."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.nested_code import with_nested
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

FILLS = frozenset({"fill_", "fill"})
MAKES = frozenset({"full", "full_like"})


def blanked_row(dataset: Any, value: int) -> Frame | None:
    """The only line of the file of a dataset's class that writes this value into a whole row; None where there are
    several, or none."""
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):  # a Subset hands on
        dataset = dataset.dataset
    module = sys.modules.get(type(dataset).__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or not is_user_file(file):
        return None
    try:
        source = inspect.getsource(module)
        nodes = [node for node in ast.walk(ast.parse(source)) if blanks(node, value, module)]
        lines = {node.lineno for node in nodes if isinstance(node, (ast.expr, ast.stmt))}
        if len(lines) != 1:
            return None
        line = lines.pop()
        codes = list(with_nested(compile(source, file, "exec", dont_inherit=True)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    return next(as_frame(code, line) for code in reversed(codes) if line in {one for *_, one in code.co_lines()})


def blanks(node: ast.AST, value: int, module: ModuleType) -> bool:
    """Whether a node writes this value into all of a row, or makes a row of it."""
    if isinstance(node, ast.Assign):
        whole = any(isinstance(one, ast.Subscript) and is_whole(one.slice) for one in node.targets)
        return whole and is_value(node.value, value, module)
    if isinstance(node, ast.Call):
        name = final_name(node.func)
        given = node.args[:1] if name in FILLS else node.args[1:2] if name in MAKES else []
        return any(is_value(one, value, module) for one in given)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        by_length = any(isinstance(one, ast.Call) and final_name(one.func) == "len" for one in ast.walk(node.right))
        return by_length and len(node.left.elts) == 1 and is_value(node.left.elts[0], value, module)
    return False


def is_whole(index: ast.expr) -> bool:
    """True for `:` and `...`, which take all places."""
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, ast.Constant) and index.value is Ellipsis


def is_value(node: ast.expr, value: int, module: ModuleType) -> bool:
    """Whether an expression is this number, or a name of the module that holds it."""
    return value in candidates(node, module)


def candidates(node: ast.expr, module: ModuleType) -> Iterator[int]:
    """Yield the number that an expression is, where it is one that can be read."""
    try:
        held = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        held = vars(module).get(node.id) if isinstance(node, ast.Name) else None
    if type(held) is int:
        yield held
