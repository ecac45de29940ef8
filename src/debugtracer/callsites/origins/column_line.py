"""The line that wrote one column of a sample: a write into that place of it (`x[2] = ...`), the part of the list it is
made of (`torch.tensor([age, weight])`), or the single column joined to others (`torch.cat([x, y[:, None]], 1)`). The
source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import takewhile

from debugtracer.callsites.origins.handed_on import COPIES, SAME
from debugtracer.callsites.origins.value_origin import Link, Use, last_write
from debugtracer.callsites.origins.written_names import Function, final_name, writes_of
from debugtracer.trace.birth import Frame

JOINS = ("cat", "concat", "concatenate", "hstack", "column_stack", "stack")
SHAPED = ("view", "reshape")
DEEP = 6  # names and calls gone through (ours)


def column_line(links: Sequence[Link], column: int, columns: int | None = None) -> Frame | None:
    """The line that wrote this column of so many, where one of the lines that made the sample is in the function that
    puts its columns together; None where they are not written one by one."""
    for link in links:
        if link.value is None or (link.value.part is not None and isinstance(link.value.node, ast.Tuple)):
            continue  # of a record the one part is meant, not a column
        found = written_into(link.value, column) or listed(link.value, column) or joined(link.value, column, columns)
        if found is not None:
            return found
    return None


def written_into(use: Use, column: int) -> Frame | None:
    """The last write of the function into that place of the name which the function returns."""
    scope = use.scope
    if scope is None:
        return None
    for name in sorted(returned_names(scope)):
        for write in reversed(writes_of(scope, name)):
            target = write.node.targets[0] if isinstance(write.node, ast.Assign) else None
            if isinstance(target, ast.Subscript) and place_of(target) == column:
                return use.frame(write.node)
    return None


def returned_names(scope: Function) -> set[str]:
    """The names that a function returns, alone, in a tuple or converted."""
    given = [n.value for n in ast.walk(scope) if isinstance(n, ast.Return) and n.value is not None]
    return {n.id for value in given for n in ast.walk(value) if isinstance(n, ast.Name)}


def place_of(target: ast.Subscript) -> int | None:
    """The last place of an index, where it is written out: 2 of `x[2]`, `x[i, 2]`, `x[..., 2]`."""
    index = target.slice.elts[-1] if isinstance(target.slice, ast.Tuple) else target.slice
    return index.value if isinstance(index, ast.Constant) and type(index.value) is int else None


def listed(use: Use, column: int) -> Frame | None:
    """The part of a list that an expression converts; of a name the line that wrote it last."""
    node = use.node
    for _ in range(DEEP):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAME:
            node = node.func.value
        elif isinstance(node, ast.Call) and final_name(node.func) in COPIES and node.args:
            node = node.args[0]
        else:
            break
    if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(n, ast.Starred) for n in node.elts):
        return None
    if not 0 <= column < len(node.elts) or len(node.elts) < 2:
        return None
    one = node.elts[column]
    last = last_write(use.program, use.scope, one.id, one.lineno) if isinstance(one, ast.Name) else None
    return use.frame(last.node if last is not None else one)


def joined(use: Use, column: int, columns: int | None) -> Frame | None:
    """The line that wrote the single column which stands at this place of a table that others are joined to, counted
    from its first part and from its last one."""
    call = use.node
    if not isinstance(call, ast.Call) or final_name(call.func) not in JOINS or not call.args:
        return None
    parts = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    stacked = final_name(call.func) == "stack"
    ahead = list(takewhile(lambda part: stacked or is_single(part), parts))
    behind = list(takewhile(lambda part: stacked or is_single(part), reversed(parts)))
    one = ahead[column] if column < len(ahead) else None
    if one is None and columns is not None and 0 <= columns - 1 - column < len(behind):
        one = behind[columns - 1 - column]
    if one is None:
        return None
    names = [n.id for n in ast.walk(one) if isinstance(n, ast.Name)]
    written = (last_write(use.program, use.scope, name, call.lineno) for name in names)
    last = next((write for write in written if write is not None), None)
    return use.frame(last.node if last is not None else one)


def is_single(part: ast.expr) -> bool:
    """Whether an expression is written as one column: `x[:, None]`, `x[:, 2:3]`, `x.unsqueeze(1)`, `x.view(-1, 1)`."""
    if isinstance(part, ast.Call):
        given = [ast.unparse(a) for a in part.args]
        name = final_name(part.func)
        return (name == "unsqueeze" and given[-1:] in (["1"], ["-1"])) or (name in SHAPED and given[-1:] == ["1"])
    if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Tuple):
        return False
    last = part.slice.elts[-1]
    if isinstance(last, ast.Slice) and isinstance(last.lower, ast.Constant) and isinstance(last.upper, ast.Constant):
        low, high = last.lower.value, last.upper.value
        return type(low) is int and type(high) is int and high - low == 1
    return ast.unparse(last) in ("None", "np.newaxis", "newaxis")
