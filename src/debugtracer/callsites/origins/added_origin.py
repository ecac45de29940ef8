"""Where the numbers were made that a module holds and adds to what it is given, before a line uses the sum. The source
is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from debugtracer.callsites.origins.argument_origin import given_to
from debugtracer.callsites.origins.value_origin import Link, Use, chain, program_of, scope_at, written_at
from debugtracer.callsites.origins.written_names import parameters
from debugtracer.trace.birth import Frame


def added_origin(stack: Sequence[Frame], called: str, parameter: str, place: int = 0) -> Frame | None:
    """The line that made what is added to the argument of the only call of that name on the innermost of these lines:
    an attribute of the module. None where nothing of its own is added, or it was handed in from outside."""
    program = program_of(stack[0].file) if stack else None
    given = given_to(program, stack[0].line, called, parameter, place) if program is not None else None
    if program is None or given is None:
        return None
    use = Use(program, scope_at(program, stack[0].line), given, tuple(stack[1:]))
    for one, line in ((use, stack[0].line), *written(chain(use, stack[0].line))):
        for held in held_in(one.node):
            links = chain(Use(one.program, one.scope, held, one.above), line)
            if links and not is_handed_in(links[-1]):
                return written_at(links)
    return None


def written(links: Sequence[Link]) -> Iterator[tuple[Use, int]]:
    """Yield what each of these lines writes; of `x += y` the sum."""
    for link in links:
        if link.value is not None:
            yield link.value, link.frame.line
            continue
        program = program_of(link.frame.file)
        for node in program.nodes if program is not None else ():
            if program is not None and isinstance(node, ast.AugAssign) and node.lineno == link.frame.line:
                total = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
                yield Use(program, scope_at(program, node.lineno), total), node.lineno


def held_in(node: ast.expr) -> Iterator[ast.Attribute]:
    """Yield the attributes of the module in the sums of an expression."""
    for total in ast.walk(node):
        if isinstance(total, ast.BinOp) and isinstance(total.op, ast.Add):
            for one in ast.walk(total):
                if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                    yield one


def is_handed_in(link: Link) -> bool:
    """Whether a line keeps an argument of its function as it is."""
    use = link.value
    if use is None or use.scope is None or not isinstance(use.node, ast.Name):
        return False
    return use.node.id in parameters(use.scope)
