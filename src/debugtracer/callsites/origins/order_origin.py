"""The line that put the rows of a value into another order: sorted, turned round, moved or listed. The source is read,
nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.turn_lines import is_backwards
from debugtracer.callsites.origins.value_origin import Link, Use, chain, is_own, origin, program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.row_order import ORDERS
from debugtracer.trace.birth import Frame

MOVES = ORDERS | frozenset(
    {
        "unique", "flip", "flipud", "roll", "sort_values", "sort_index", "groupby", "merge", "set", "listdir", "glob",
        "iglob", "iterdir", "scandir", "reversed", "transpose", "swapaxes", "meshgrid",
        "permute", "moveaxis", "rot90", "fliplr",
    }
)  # fmt: skip

DEPTH = 3  # orders that are taken by orders (ours)


def order_of(links: Sequence[Link]) -> Frame | None:
    """The last of these lines that puts rows into another order, or a statement beside it that does so in place."""
    for link in links:
        if link.value is None:
            continue
        found = orders(link) or in_place(link.value, link.frame.line)
        if found is not None:
            return found
    return None


def apart(*ways: Sequence[Link]) -> list[list[Link]]:
    """The lines of each way that write none of the others: what orders both sides orders them alike."""
    sets = [{link.frame for link in way} for way in ways]
    first, others = sets[0], set().union(*sets[1:])
    return [[one for one in way if one.frame not in (others if n == 0 else first)] for n, way in enumerate(ways)]


def orders(link: Link) -> Frame | None:
    """A line whose value calls what orders, or that of the index or the list which it takes rows by or from."""
    use = link.value
    if use is None or any(is_order(node) for node in ast.walk(use.node)):
        return link.frame if use is not None else None
    for node in (one for one in ast.walk(use.node) if isinstance(one, ast.Subscript)):
        for part in (node.slice, node.value):
            before = ordered(use, part, link.frame.line)
            if before is not None:
                return link.frame if part is node.slice else before
    loops = [one.iter for node in ast.walk(use.node) if isinstance(node, ast.ListComp) for one in node.generators]
    if any(ordered(use, one, link.frame.line) for one in loops):
        return link.frame
    return given_in_order(use, link.frame.line)


def given_in_order(use: Use, line: int) -> Frame | None:
    """The line that ordered what a function of the program is given first."""
    call = use.node if is_own(use.program, use.scope, use.node) else None
    return ordered(use, call.args[0], line) if isinstance(call, ast.Call) and call.args else None


def ordered(use: Use, part: ast.expr, line: int, depth: int = DEPTH) -> Frame | None:
    """The line that made a name by ordering, or by rows that are taken by such a name."""
    named = isinstance(part, (ast.Name, ast.Attribute))
    links = chain(Use(use.program, use.scope, part, use.above), line) if named and depth else ()
    for link, value in [(one, one.value) for one in links if one.value is not None]:
        nodes = list(ast.walk(value.node))
        taken = [one.slice for one in nodes if isinstance(one, ast.Subscript)]
        if any(map(is_order, nodes)) or any(ordered(value, one, link.frame.line, depth - 1) for one in taken):
            return link.frame
        if (beside := in_place(value, link.frame.line)) is not None:
            return beside
    return None


def is_order(node: ast.AST) -> bool:
    """Whether this is a call of that name, a slice with a step back, or the transpose of a matrix; `permute(2, 0, 1)`
    moves a dimension past two that keep their order, `transpose(0, 2, 1)` keeps the rows."""
    if isinstance(node, ast.Call):
        first = node.args[0] if len(node.args) > 2 else None
        if isinstance(first, ast.Constant) and first.value == 0 and final_name(node.func) in ("transpose", "permute"):
            return False
        last = [one.value for one in node.args[-2:] if isinstance(one, ast.Constant) and isinstance(one.value, int)]
        keeps = final_name(node.func) == "permute" and len(last) == 2 and last[0] < last[1]
        return final_name(node.func) in MOVES and not keeps
    return is_backwards(node) or (isinstance(node, ast.Attribute) and node.attr == "T")


def in_place(use: Use, line: int) -> Frame | None:
    """A statement of the same scope that orders the name which a line writes: `rows.sort()`, `shuffle(rows)`."""
    names = names_at(use, line)
    for node in use.program.every(ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call) or final_name(call.func) not in MOVES or not of_scope(use, call):
            continue
        held = [*([call.func.value] if isinstance(call.func, ast.Attribute) else []), *call.args[:1]]
        if any(isinstance(one, ast.Name) and one.id in names for one in held):
            return use.frame(call)
    return None


def placed(links: Sequence[Link]) -> Frame | None:
    """The statement that writes values into places of what one of these lines makes: `mask[rows, columns] = 1`."""
    for link in links:
        names = names_at(link.value, link.frame.line) if link.value is not None else set()
        for node in link.value.program.nodes if link.value is not None else ():
            for one in node.targets if isinstance(node, ast.Assign) else ():
                into = one.value if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Tuple) else None
                known = isinstance(into, ast.Name) and into.id in names
                if link.value is not None and known and of_scope(link.value, node):
                    return link.value.frame(node)
    return None


def names_at(use: Use, line: int) -> set[str]:
    """The names that the assignment on a line writes."""
    return {
        name.id
        for node in use.program.every(ast.Assign)
        if node.lineno <= line <= (node.end_lineno or node.lineno)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }


def of_scope(use: Use, node: ast.AST) -> bool:
    """Whether a statement stands in the function that a use is in."""
    return use.program.function(node) is use.scope


def taken_from(stack: Sequence[Frame]) -> Iterator[tuple[Link, ...]]:
    """Yield the lines that wrote each name which the innermost of these lines takes rows of."""
    program = program_of(stack[0].file) if stack else None
    held = program.every(ast.Subscript) if program is not None else []
    for node in held:
        here = node.lineno <= stack[0].line <= (node.end_lineno or node.lineno) and isinstance(node.ctx, ast.Load)
        if here and isinstance(node.value, (ast.Name, ast.Attribute)):
            yield origin(ast.unparse(node.value), stack)
