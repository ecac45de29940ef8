"""What an object of the program was built with: the argument that its constructor keeps, followed back from the call
that built the object. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from debugtracer.callsites.origins.added_origin import is_handed_in
from debugtracer.callsites.origins.handed_on import kind_of
from debugtracer.callsites.origins.only_caller import passed
from debugtracer.callsites.origins.value_origin import Link, Use, chain, each_once, is_own, scope_at
from debugtracer.trace.birth import Frame

HoldsCall = Callable[[Use, int, str], ast.Call | None]
"""The call of a class that an expression on a line is, or holds."""


def built_with(links: Sequence[Link], built: Frame | None, holds: HoldsCall) -> tuple[Link, ...]:
    """The lines, and where they only hand on what a constructor was given, those that made its argument: of several
    objects of the class that of the one which the call at `built` takes."""
    last = links[-1] if links else None
    use = last.value if last is not None else None
    keeps = last is not None and is_handed_in(last) and use is not None and getattr(use.scope, "name", "") == "__init__"
    if use is None or not keeps or any(link.kind != "handed" for link in links) or not isinstance(use.node, ast.Name):
        return tuple(links)
    given = list(passed(use, use.node.id))
    if len(given) > 1 and built is not None:
        owner = use.program.owner(use.scope) if use.scope is not None else None
        given = [one for one in given if owner is not None and is_taken(*one, built, holds, owner.name)]
    if len(given) != 1:
        return tuple(links)
    argument, line = given[0]
    kind = kind_of(argument.node)
    own = is_own(argument.program, argument.scope, argument.node)
    here = [Link(argument.frame(argument.node), kind, argument)] if kind != "handed" and not own else []
    return each_once(iter([*links, *here, *chain(argument, line)]))


def is_taken(use: Use, line: int, built: Frame, holds: HoldsCall, kind: str) -> bool:
    """Whether the object that this line builds is the one that a call at `built` takes."""
    if str(use.program.path) != built.file:
        return False
    scope = scope_at(use.program, built.line)
    for node in use.program.nodes:
        if isinstance(node, ast.Call) and node.lineno <= built.line <= (node.end_lineno or 0):
            call = holds(Use(use.program, scope, node), built.line, kind)
            if call is not None and call.lineno <= line <= (call.end_lineno or call.lineno):
                return True
    return False
