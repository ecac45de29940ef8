"""The lines that write a name in the other branch of the condition around a write of it. The source is read, nothing is
executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from debugtracer.callsites.origins.handed_on import kind_of
from debugtracer.callsites.origins.value_origin import Link, Use
from debugtracer.callsites.origins.written_names import writes_of


def other_branches(link: Link) -> Iterator[Link]:
    """Yield what the name that a line writes may have been written with instead: the nearest line in the text need not
    be the one that was executed."""
    use = link.value
    if use is None or link.frame.file != str(use.program.path):
        return
    writes = (n for n in use.program.nodes if isinstance(n, ast.Assign) and n.lineno == link.frame.line)
    statement = next(writes, None)
    if statement is None:
        return
    target = statement.targets[0]
    name = ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else ""
    around = [above for above in use.program.above(statement) if isinstance(above, ast.If)]
    for condition in around[:2] if name else ():
        for branch in (condition.body, condition.orelse):
            if not any(statement in ast.walk(one) for one in branch):
                for other in [w for one in branch for w in writes_of(one, name)]:
                    inner = Use(use.program, use.scope, other.value, use.above, other.part) if other.value else None
                    yield Link(use.frame(other.node), kind_of(other.value), inner)
