"""Which line made a value NaN or Inf, among those that a tensor was computed by: the first that divides or leaves the
domain of a function, else the one that reads the file."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.handed_on import carrier
from debugtracer.callsites.origins.literal_writes import literal_write, names_changed
from debugtracer.callsites.origins.only_caller import written
from debugtracer.callsites.origins.other_branch import beside, cleaned, other_branches
from debugtracer.callsites.origins.told_line import only_told
from debugtracer.callsites.origins.value_origin import Link, Use, last_write, made_first
from debugtracer.callsites.origins.written_names import final_name, part_of
from debugtracer.source.risks import negative
from debugtracer.trace.birth import Frame

DEEP = 6  # assignments that are gone back through (ours)
MOST = 200  # expressions looked at (ours)
DOMAIN = frozenset({
    "log", "log2", "log10", "sqrt", "rsqrt", "reciprocal", "acos", "asin", "acosh", "divide", "true_divide", "div",
})  # fmt: skip
"""Functions that can make NaN or Inf of finite values."""
REDUCES = frozenset(
    {"mean", "std", "var", "sum", "max", "min", "norm", "median", "nanmean", "nanstd", "nanvar", "amax"}
)
"""Functions of many values: one of no value, or a spread of zero, spoils all that it is applied to."""
NANS = ("invalid value", "Mean of empty slice", "Degrees of freedom <= 0")
"""How warnings begin that a NaN came out."""
CONSTANTS = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.Load, ast.operator, ast.unaryop)


class GuessedLines(tuple[Frame, ...]):
    """Lines of which the first is one that numpy warned of, while no name leads to it from the bad value."""


def nonfinite_first(links: Sequence[Link], some: bool, heard: Sequence[NumericWarning] = ()) -> tuple[Frame, ...]:
    """The lines from the one that made the value NaN or Inf to the one that wrote it last. `some`: only some rows are
    bad, so what all rows were divided by was no zero. `heard` are the warnings of numpy: a line that it warned of
    before one that could have, and where none could, as a guess one in another branch or elsewhere (an environment that
    the values came back from)."""
    literal = literal_write(links, some)
    if literal is not None:
        return (literal,)
    found = warned_of(links, heard) or first_risky(links, some)
    if found is None or found.kind == "read":
        other = warned_of(links, heard, branches=True)
        if other is not None:
            return GuessedLines(way_from(other, links))
    if found is None:
        far = () if some else elsewhere(heard)
        return GuessedLines((*far, *made_first(links))) if far else made_first(links)
    return way_from(found, links)


def way_from(found: Link, links: Sequence[Link]) -> tuple[Frame, ...]:
    """The lines from the one that was found to the one that wrote the value last."""
    way = [link.frame for link in links]
    top = next((i for i, frame in enumerate(way) if frame == found.frame), len(way) - 1)
    after = way[top::-1] if way[top] == found.frame else [found.frame, *way[::-1]]
    return tuple(dict.fromkeys(after))


def warned_of(links: Sequence[Link], heard: Sequence[NumericWarning], branches: bool = False) -> Link | None:
    """The line on the way that numpy has warned of first: what comes after computes with its NaN and Inf. `branches`:
    also one in a branch beside it that makes no NaN itself."""
    near = list(itertools.islice(backwards(links, branches), MOST)) if heard else []
    for one in heard:
        found = next((link for link in near if spans(link, one.frames[0])), None)
        if found is not None:
            return found
    return None


def elsewhere(heard: Sequence[NumericWarning]) -> tuple[Frame, ...]:
    """The line that numpy has warned of first, where all its warnings of NaN come from one line, those aside of numbers
    that are only told. None in one branch of a condition where another can make NaN as well."""
    said = [one.frames[0] for one in heard if one.text.startswith(NANS) and not only_told(one.frames[0])]
    alone = len({(one.file, one.line) for one in said}) == 1 and not beside(said[0], spoils)
    return (said[0],) if alone else ()


def spans(link: Link, at: Frame) -> bool:
    """Whether a line belongs to what a link writes; the statement may stand on several."""
    node = link.value.node if link.value is not None else None
    last = max(link.frame.line, getattr(node, "end_lineno", None) or 0)
    return at.file == link.frame.file and link.frame.line <= at.line <= last


def first_risky(links: Sequence[Link], some: bool) -> Link | None:
    """The nearest line that can have made it; where none can, the one that reads a file."""
    read: Link | None = None
    for count, link in enumerate(backwards(links)):
        if link.value is not None and risky(link.value, link.frame.line, some):
            return link
        read = link if link.kind == "read" and read is None else read
        if count == MOST:
            break
    return read


def backwards(links: Sequence[Link], branches: bool = False) -> Iterator[Link]:
    """Yield these lines, then those that wrote the names in them, level by level, each once. `branches`: also what the
    other branch of a condition writes."""
    level, seen = list(links), {(link.frame.file, link.frame.line) for link in links}
    for _ in range(DEEP):
        yield from level
        following: list[Link] = []
        for link in level:
            for one in (*of_all_names(link), *(other_branches(link, spoils) if branches else ())):
                key = (one.frame.file, one.frame.line)
                if key not in seen:
                    seen.add(key)
                    following.append(one)
        level = following


def of_all_names(link: Link) -> Iterator[Link]:
    """The lines that wrote any name that a line computes with, or what a function of the program that it calls
    returns."""
    use = link.value
    if use is None or cleaned(use.node):
        return
    if isinstance(use.node, ast.Constant):  # written into some elements: the others are what they were
        for name in names_changed(use.program.nodes, link.frame.line):
            yield from written(Use(use.program, use.scope, ast.Name(name), use.above), link.frame.line)
    whole = part_of(use.node, use.part) if use.part is not None else use.node
    meant = carrier(whole) if whole is not None else use.node
    called = {id(n.func) for n in ast.walk(use.node) if isinstance(n, ast.Call)}
    for node in ast.walk(whole if whole is not None else use.node):
        own = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
        if isinstance(node, ast.Call) or ((own or isinstance(node, ast.Name)) and id(node) not in called):
            assert isinstance(node, ast.expr)
            part = use.part if node is meant and whole is use.node else None
            yield from written(Use(use.program, use.scope, node, use.above, part), link.frame.line)


def risky(use: Use, line: int, some: bool) -> bool:
    """Whether an expression can give NaN or Inf for finite values, by a division or a function with a domain."""
    for node in ast.walk(use.node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mod)):
            if not settled(use, node.right, line) and not (some and reduced(use, node.right, line)):
                return True
        elif (isinstance(node, ast.Call) and final_name(node.func) in DOMAIN) or inverts(node):
            return True
        elif isinstance(node, ast.Call) and final_name(node.func) == "mean" and some:
            inner = node.func.value if isinstance(node.func, ast.Attribute) else node
            if isinstance(inner, ast.Call):  # the mean of what was just put together, which may be nothing
                return True
    return False


def meant(use: Use, node: ast.expr, line: int) -> ast.expr:
    """The expression a plain name was last written with, in its own scope or at module level."""
    if not isinstance(node, ast.Name):
        return node
    for scope in (use.scope, None):
        last = last_write(use.program, scope, node.id, line if scope is use.scope else None)
        if last is not None and last.value is not None:
            return last.value
    return node


def spoils(use: Use, line: int) -> bool:
    """Whether a line of the branch that was written could have made it, in any row."""
    return risky(use, line, some=False)


def settled(use: Use, node: ast.expr, line: int) -> bool:
    """True for a divisor that is written out in the source: a number, or an array of numbers."""
    value = meant(use, node, line)
    if isinstance(value, ast.Call) and final_name(value.func) in ("array", "tensor", "float", "sqrt") and value.args:
        value = value.args[0]
    return all(isinstance(n, CONSTANTS) for n in ast.walk(value))


def reduced(use: Use, node: ast.expr, line: int) -> bool:
    """True for a divisor that is one number of many rows."""
    value = meant(use, node, line)
    return any(isinstance(n, ast.Call) and final_name(n.func) in REDUCES for n in ast.walk(value))


def inverts(node: ast.AST) -> bool:
    """True for a power with a negative exponent: `np.power(x, -1)`, `x.pow(-0.5)`, `x**-1`."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Pow) and negative(node.right)
    powers = isinstance(node, ast.Call) and final_name(node.func) in ("power", "pow", "float_power")
    return powers and isinstance(node, ast.Call) and any(negative(a) for a in node.args[:2])
