"""Where a value that a line uses was last written: names are followed through assignments, conversions, calls and
parameters in the user's source. Nothing of it is executed."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.handed_on import carrier, copies, kind_of
from debugtracer.callsites.origins.written_names import (
    Function,
    Written,
    final_name,
    loop_of,
    loops,
    outer,
    paired,
    parameters,
    part_of,
    place_in,
    registered_in_loops,
    returns,
    writes_of,
)
from debugtracer.source.program import Program, parse
from debugtracer.trace.birth import Frame

MOST = 12  # lines of one chain; a longer one is cut (ours)


@dataclass(frozen=True)
class Use:
    """An expression in the scope it stands in; `above` are the lines that called this function, innermost first."""

    program: Program
    scope: Function | None
    node: ast.expr
    above: tuple[Frame, ...] = ()
    part: int | str | None = None
    """Which part of it is meant: a place of a tuple or a key of a dict."""

    def frame(self, node: ast.AST) -> Frame:
        """The line of a node in this file."""
        file, line = str(self.program.path), getattr(node, "lineno", 1)
        name = self.scope.name if self.scope is not None else "<module>"
        return Frame(file, line, name, linecache.getline(file, line).strip())


@dataclass(frozen=True)
class Link:
    """One line on the way back. `kind`: `made` computes the value, `formed` puts other values together, `handed` moves
    or converts it, `read` takes it from a file."""

    frame: Frame
    kind: str
    value: Use | None = None
    """What was written, in the scope it was written in."""


def written_at(links: Sequence[Link]) -> Frame | None:
    """The line that made the value as it is: the farthest that is neither a mere conversion nor a file that is read."""
    own = [link for link in links if link.kind in ("made", "formed")]
    return (own or list(links))[-1].frame if links else None


def made_first(links: Sequence[Link], cut: bool = False) -> tuple[Frame, ...]:
    """The lines from the one that made the value to the one that wrote it last; with `cut` from the one that last cut
    or computed it, for a tensor whose values are right and whose place is not."""
    own = [link.frame for link in links if link.kind in ("made", "formed")]
    first = own[0] if cut and own else written_at(links)
    way = [link.frame for link in links]
    return tuple(way[way.index(first) :: -1]) if first is not None else ()


def origin(name: str, stack: Sequence[Frame]) -> tuple[Link, ...]:
    """The lines that wrote the value a name has at the innermost of these lines, last writer first. Empty where it
    cannot be followed."""
    program = program_of(stack[0].file) if stack else None
    try:
        node = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError):
        return ()
    if program is None:
        return ()
    return chain(Use(program, scope_at(program, stack[0].line), node, tuple(stack[1:])), stack[0].line)


def chain(use: Use, line: int) -> tuple[Link, ...]:
    """The lines from a use back to the one that computed the value, each once."""
    return each_once(follow(use, line, frozenset()))


def each_once(links: Iterator[Link]) -> tuple[Link, ...]:
    """The first MOST lines, each once."""
    found: dict[tuple[str, int], Link] = {}
    for link in links:
        found.setdefault((link.frame.file, link.frame.line), link)
        if len(found) == MOST:
            break
    return tuple(found.values())


def follow(use: Use, line: int, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Yield the writing lines of an expression, going back from a line."""
    node, part = carrier(use.node), use.part
    if isinstance(use.node, ast.Subscript) and isinstance(use.node.slice, ast.Constant) and part is None:
        part = use.node.slice.value if isinstance(use.node.slice.value, (int, str)) else None
    use = Use(use.program, use.scope, node, use.above, part)
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        one = part_of(node, use.part)
        if one is not None:
            yield from follow(Use(use.program, use.scope, one, use.above), line, seen)
        return
    if isinstance(node, ast.Call):
        yield from into_call(use, node, seen)
        return
    name = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    key = (str(use.program.path), line, name)
    if not name or key in seen:
        return
    seen = seen | {key}
    if isinstance(node, ast.Attribute):
        yield from of_attribute(use, node, seen)
    elif isinstance(node, ast.Name):
        yield from of_name(use, node.id, line, seen)


def of_name(use: Use, name: str, line: int, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Follow a plain name: its last assignment before the line, else the argument of the caller, else an outer
    scope."""
    scope: Function | None = use.scope
    while True:
        last = last_write(use.program, scope, name, line if scope is use.scope else None, use.part)
        loop = loop_of(use.program, scope, name, line) if scope is use.scope else None
        if loop is not None and (last is None or last.node.lineno < loop.lineno):
            yield from of_items(use, loop, name, seen)
            return
        if last is not None:
            part = last.part if last.part is not None else use.part if last.key is None else None
            above = use.above if scope is use.scope else ()
            inner = Use(use.program, scope, last.value, above, part) if last.value is not None else None
            kind = "handed" if is_own(use.program, scope, last.value) else kind_of(last.value)
            yield Link(use.frame(last.node), kind, inner)
            if inner is not None:
                yield from follow(inner, last.node.lineno, seen)
            return
        if scope is None:
            return
        if scope is use.scope and name in parameters(scope):
            yield from from_caller(use, scope, name, seen)
            return
        scope = outer(use.program, scope)


def of_items(use: Use, loop: ast.For, name: str, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Follow the target of a loop into what it goes through; not into an object of a class, whose items are its own
    doing (a DataLoader)."""
    found, part = place_in(loop, name)
    if not found:
        return
    items, part = paired(loop.iter, part)
    links = list(
        follow(Use(use.program, use.scope, items, use.above, use.part if part is None else part), loop.lineno, seen)
    )
    end = carrier(links[-1].value.node) if links and links[-1].value is not None else None
    if links and not (isinstance(end, ast.Call) and final_name(end.func)[:1].isupper()):
        yield from links


def is_own(program: Program, scope: Function | None, value: ast.expr | None) -> bool:
    """True for a call of a function of the program, which made the value."""
    call = carrier(value) if value is not None else None
    return isinstance(call, ast.Call) and called_function(program, scope, call, program_of) is not None


def from_caller(use: Use, function: Function, name: str, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Follow a parameter to what the calling line passed; nothing where no one call of that line fits."""
    if not use.above:
        return
    caller = use.above[0]
    program = program_of(caller.file)
    if program is None:
        return
    names = parameters(function)
    place = names.index(name) - (names[:1] in (["self"], ["cls"]))
    given = [
        argument
        for call in calls_at(program, caller.line, function.name)
        if (argument := argument_of(call, name, place)) is not None
    ]
    if len(given) == 1:
        scope = scope_at(program, caller.line)
        yield from follow(Use(program, scope, given[0], use.above[1:], use.part), caller.line, seen)


def into_call(use: Use, call: ast.Call, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Follow a call of a function of the program to what it returns; any other call computed the value."""
    called = called_function(use.program, use.scope, call, program_of)
    if called is None or (str(called[0].path), called[1].lineno, "()") in seen:
        return
    program, function = called
    seen = seen | {(str(program.path), function.lineno, "()")}
    yield from returned(program, function, use.part, seen, (use.frame(call), *use.above))


def returned(
    program: Program,
    function: Function,
    part: int | str | None,
    seen: frozenset[tuple[str, int, str]] = frozenset(),
    above: tuple[Frame, ...] = (),
) -> Iterator[Link]:
    """Yield the lines that wrote (a part of) what a function returns or yields, by its last return."""
    last = next(reversed(returns(program, function)), None)
    if last is None or last.value is None:
        return
    value = carrier(last.value)
    one = part_of(value, part) if part is not None else value
    kept = None if one is not value else part
    use = Use(program, function, one if one is not None else value, above, kept)
    kind = "handed" if copies(use.node) else kind_of(last.value if one is value else one)
    if kind == "formed" or copies(use.node) or not isinstance(carrier(use.node), (ast.Name, ast.Attribute)):
        yield Link(use.frame(last), kind, use)
    yield from follow(use, last.lineno, seen)


def of_attribute(use: Use, node: ast.Attribute, seen: frozenset[tuple[str, int, str]]) -> Iterator[Link]:
    """Follow `self.x` to where the class sets it: an assignment, in __init__ if there is one, or register_buffer."""
    owner = use.program.owner(use.scope) if use.scope is not None else None
    if owner is None or not (isinstance(node.value, ast.Name) and node.value.id == "self"):
        return
    every = writes_of(owner, f"self.{node.attr}")
    home = next((use.program.function(w.node) for w in every), None)
    built = [w for w in every if getattr(use.program.function(w.node), "name", "") == "__init__"]
    written = next(reversed(built or [w for w in every if use.program.function(w.node) is home]), None)
    if written is None:
        for around, loop, items in registered_in_loops(use.program, owner):
            yield from follow(Use(use.program, around, items, (), node.attr), loop.lineno, seen)
        return
    scope = use.program.function(written.node)
    if written.value is None or not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield Link(use.frame(written.node), kind_of(written.value))
        return
    part = written.part if written.part is not None or written.key is not None else use.part
    inner = Use(use.program, scope, written.value, (), part)
    yield Link(inner.frame(written.node), kind_of(written.value), inner)
    yield from follow(inner, written.node.lineno, seen)


def program_of(file: str) -> Program | None:
    """A file of the user's as a tree; None for a library's and for what cannot be read."""
    return tree_of(file) if is_user_file(file) else None


@functools.lru_cache(64)
def tree_of(file: str) -> Program | None:
    """A file as a tree, kept for as long as no 64 others were asked for; None for what cannot be read."""
    from pathlib import Path

    text = "".join(linecache.getlines(file))
    return parse(Path(file), text.encode("utf-8", "replace")) if text else None


def scope_at(program: Program, line: int) -> Function | None:
    """The innermost function around a line; None at module level."""
    every: list[Function] = [*program.every(ast.FunctionDef), *program.every(ast.AsyncFunctionDef)]
    inside = [n for n in every if n.lineno <= line <= (n.end_lineno or 0)]
    return max(inside, key=lambda n: n.lineno, default=None)


def last_write(
    program: Program, scope: Function | None, name: str, line: int | None, part: int | str | None = None
) -> Written | None:
    """The last write to a name, or to this part of it, in a scope before a line; where there is none, the last of a
    loop around it."""
    every = [w for w in writes_of(scope or program.tree, name) if program.function(w.node) is scope and w.reaches(part)]
    before = [w for w in every if line is None or (w.node.end_lineno or w.node.lineno) < line]
    if before or line is None:
        return before[-1] if before else None
    again = [w for w in every if any(loops(a, line) for a in program.above(w.node))]
    return again[-1] if again else None


def calls_at(program: Program, line: int, name: str) -> list[ast.Call]:
    """The calls on a line that can have run a function of that name; a module's forward is called by any name."""
    found = [n for n in program.every(ast.Call) if n.lineno <= line <= (n.end_lineno or 0)]
    return [c for c in found if name == "forward" or final_name(c.func) == name]


def argument_of(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """The expression a call passes for a parameter."""
    named = next((k.value for k in call.keywords if k.arg == name), None)
    if named is not None or any(isinstance(a, ast.Starred) for a in call.args[: place + 1]):
        return named
    return call.args[place] if 0 <= place < len(call.args) else None
