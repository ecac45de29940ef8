"""From the sample that came out bad back to the expression that made it so: names to the line that turned them, calls
into the user's function, an expression to the part whose own parts are finite."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.value_origin import argument_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.replay.fetch.expressions import MISSING, Names, operands, turns_of, written_value
from debugtracer.replay.fetch.line_trace import Executed, LineTrace, Visit
from debugtracer.replay.fetch.values import is_bad
from debugtracer.trace.birth import Frame

HOPS = 60  # expressions gone through (ours)
CALLED = ("__call__", "forward")


@dataclass
class Origin:
    """The expression that made it; `stored` where it only takes it from what was there before the fetch."""

    node: ast.expr
    executed: Executed
    names: Names
    stored: bool
    result: Any = None
    """What the expression gives; MISSING where it cannot be computed a second time."""


@dataclass
class Descent:
    """One way back. `way` is the user's lines from the batch down to the origin."""

    trace: LineTrace
    part: int | str | None = None
    """Which part of the sample is meant, where the batch says it."""
    way: list[Frame] = field(default_factory=list)
    hops: int = 0

    def origin(self) -> Origin | None:
        """Where the first bad value that was handed out began; None where no line of the user's made it."""
        tops = [v for v in self.trace.visits if v.parent is None and v.returned_bad]
        top = next((v for v in tops if not v.bad_arguments), tops[0] if tops else None)
        return self.into(top, self.part) if top is not None else None

    def into(self, visit: Visit, part: int | str | None = None) -> Origin | None:
        """Follow a call of the user's that gave a bad value back."""
        last = visit.last
        if last is None:
            return None
        node = written_value(last.statement.node)
        names = Names(visit.scope, last.before)
        if part is not None and node is not None:
            one = named_part(node, part)
            node = one if one is not None and is_bad(names.value(one)) else node
        return self.at(node, last, names)

    def at(self, node: ast.expr | None, executed: Executed, names: Names) -> Origin | None:
        """Note the line, and follow an expression of it."""
        self.hops += 1
        if node is None or self.hops > HOPS:
            return None
        frame = as_frame(executed.visit.code, executed.statement.line)
        if not self.way or self.way[-1] != frame:
            self.way.append(frame)
        return self.follow(node, executed, names)

    def follow(self, node: ast.expr, executed: Executed, names: Names) -> Origin | None:
        """Follow an expression that is bad to the part of it that is bad first."""
        self.hops += 1
        if self.hops > HOPS:
            return None
        if isinstance(node, ast.Name):
            return self.named(node, executed, names)
        if isinstance(node, ast.IfExp):
            return self.follow(node.body if names.value(node.test) is not False else node.orelse, executed, names)
        for element, inner in turns_of(node, names):
            if is_bad(inner.value(element)):
                return self.follow(element, executed, inner)
        for one in operands(node):
            if is_bad(names.value(one)):
                found = self.follow(one, executed, names)
                whole = isinstance(node, ast.Subscript) and found is not None and found.stored and found.node is one
                return Origin(node, executed, names, True, names.value(node)) if whole else found
        nested = self.visit_of(node, executed)
        if nested is not None:
            return self.into(nested)
        if isinstance(node, ast.Attribute) and (turn := self.turn(ast.unparse(node), executed)) is not None:
            return turn
        stored = isinstance(node, (ast.Attribute, ast.Subscript)) and not in_module(node, names)
        return Origin(node, executed, names, stored, names.value(node))

    def named(self, node: ast.Name, executed: Executed, names: Names) -> Origin | None:
        """Follow a plain name: to the line that turned it, else to what the caller passed."""
        turn = self.turn(node.id, executed)
        if turn is not None:
            return turn
        visit = executed.visit
        given = passed(visit, node.id) if node.id in visit.bad_arguments and visit.at is not None else None
        if given is not None and visit.at is not None:
            return self.at(given, visit.at, Names(visit.at.visit.scope, visit.at.before))
        return Origin(node, executed, names, True, names.value(node))

    def turn(self, name: str, executed: Executed) -> Origin | None:
        """The last line before this one that turned a name bad, in the same call; of an attribute in any."""
        found = [
            t
            for t in self.trace.turns
            if t.name == name
            and t.executed.order < executed.order
            and ("." in name or t.executed.visit is executed.visit)
        ]
        if not found:
            return None
        last = found[-1].executed
        return self.at(written_value(last.statement.node, name), last, Names(last.visit.scope, last.before))

    def visit_of(self, node: ast.expr, executed: Executed) -> Visit | None:
        """The call of the user's by which an expression got its bad value: of the name that is called there, else the
        first that a library made meanwhile of finite arguments."""
        inner = [
            v
            for v in self.trace.visits
            if v.at is executed and v.returned_bad and not v.bad_arguments and v.order > executed.order
        ]
        word = final_name(node.func) if isinstance(node, ast.Call) else ""
        exact = [v for v in inner if v.code.co_name == word]
        if exact or isinstance(node, ast.Call):
            return next(iter([*exact, *inner]), None)
        wanted = "__getitem__" if isinstance(node, ast.Subscript) else getattr(node, "attr", "")
        return next((v for v in inner if v.code.co_name == wanted), None)


def named_part(node: ast.expr, part: int | str) -> ast.expr | None:
    """The expression of one place of a tuple or one key of a dict that a function returns."""
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(part, int):
        return node.elts[part] if part < len(node.elts) else None
    if isinstance(node, ast.Dict):
        keys = [k.value if isinstance(k, ast.Constant) else None for k in node.keys]
        return node.values[keys.index(part)] if part in keys else None
    return None


def passed(visit: Visit, name: str) -> ast.expr | None:
    """The expression that the caller's statement passes for a parameter; None where no one call of it fits."""
    if visit.at is None:
        return None
    names = list(visit.code.co_varnames[: visit.code.co_argcount + visit.code.co_kwonlyargcount])
    place = names.index(name) - (names[:1] == ["self"]) if name in names else -1
    calls = [n for n in ast.walk(visit.at.statement.node) if isinstance(n, ast.Call)]
    fitting = [c for c in calls if final_name(c.func) == visit.code.co_name or visit.code.co_name in CALLED]
    given = [value for c in fitting if (value := argument_of(c, name, place)) is not None]
    return given[0] if len(given) == 1 else None


def in_module(node: ast.expr, names: Names) -> bool:
    """True for `np.nan`: a name of a module, which the program writes there itself."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = names.value(node.value)
    return owner is not MISSING and type(owner).__name__ == "module"
