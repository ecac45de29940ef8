"""Dicts of whole numbers that the functions of a traceback can reach, and the lines that fill them."""

from __future__ import annotations

import ast
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.callsites.stored_entries import Held, is_own
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

DEEPEST = 3  # attributes from a name of a function (ours)
MOST = 4000  # objects looked at (ours)
LONGEST = 1 << 22  # entries of a dict that is read (ours)
PLAIN = (dict, defaultdict, OrderedDict, Counter)


class Filling(NamedTuple):
    """The line that gives an entry its number, and the loop that counts the numbers where it counts what is left
    out, too."""

    line: Frame
    loop: Frame | None = None


def number_dicts(error: BaseException, others: tuple[Any, ...] = ()) -> Iterator[Held]:
    """Yield the dicts whose values are whole numbers, among what the functions of a traceback can reach."""
    for held in reached(error, others):
        if type(held.value) in PLAIN and numbers_of(held.value) is not None:
            yield held


def reached(error: BaseException, others: tuple[Any, ...] = ()) -> Iterator[Held]:
    """Yield what the user's functions in the traceback hold from the innermost on, their globals, and the attributes of
    objects of the user's classes."""
    waiting: deque[tuple[Held, int]] = deque()
    walked = [frame for frame, _ in raising_frames(error)[::-1]]
    for frame in walked:
        waiting.extend((Held(value, name, frame.f_code), 0) for name, value in locals_of(frame).items())
    waiting.extend((Held(value, "", None), 0) for value in others)
    for frame in walked:
        waiting.extend((Held(value, name, frame.f_code), 0) for name, value in list(frame.f_globals.items()))
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        held, depth = waiting.popleft()
        if id(held.value) in seen:
            continue
        seen.add(id(held.value))
        yield held
        if depth < DEEPEST and is_own(held.value):
            inside = list(vars(held.value).items())[:64]
            waiting.extend((Held(value, name, held.value), depth + 1) for name, value in inside)


def numbers_of(held: dict[Any, Any]) -> list[int] | None:
    """Give the values of a dict, where each is a whole number and no two are the same."""
    if not 1 < len(held) <= LONGEST:
        return None
    values = list(dict.values(held))
    if type(values[0]) is not int or type(values[-1]) is not int or not all(type(v) is int for v in values):
        return None
    return values if len(set(values)) == len(values) else None


def filling_of(held: Held, key: Any = None) -> Filling | None:
    """The only statement in a loop, else the only one at all, that gives entries of a dict of this name their numbers:
    in the class that holds it where there is one there, and the one that names this key where one does. Reads
    source."""
    found: list[tuple[Program, ast.stmt, ast.expr]] = []
    own = type(held.owner).__name__ if not isinstance(held.owner, CodeType) else ""
    home = home_of(held)
    files = dict.fromkeys((*home, *(program_files() or ())))
    for program in (p for file in files if (p := program_of(file)) is not None):
        for assigned in program.every(ast.Assign):
            value = given(assigned, held.name)
            if value is not None:
                found.append((program, assigned, value))
    for keep in (
        lambda p, n: (o := p.owner(n)) is not None and o.name == own,
        lambda p, n: str(p.path) in home,
        lambda p, n: key is not None and names_key(p, n, key),
        in_loop,
    ):
        kept = [one for one in found if keep(one[0], one[1])]
        found = kept or found
    if len(found) != 1:
        return None
    program, node, value = found[0]
    return Filling(at_line(program, node.lineno), counting_loop(program, node, value))


def home_of(held: Held) -> list[str]:
    """The file of the function that holds a dict, or of the class of its object."""
    if isinstance(held.owner, CodeType):
        return [held.owner.co_filename]
    file = getattr(sys.modules.get(type(held.owner).__module__), "__file__", None)
    return [file] if file is not None else []


def given(node: ast.Assign, name: str) -> ast.expr | None:
    """What gives an entry its number in a statement that fills a dict of this name; None for any other."""
    target = node.targets[0]
    if isinstance(target, ast.Subscript) and final_name(target.value) == name:
        return node.value
    if final_name(target) == name and isinstance(node.value, ast.DictComp):
        return node.value.value
    return None


def names_key(program: Program, node: ast.AST, key: Any) -> bool:
    """Whether a statement fills the entry of this very key: written out, or a name of its file."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    place = target.slice if isinstance(target, ast.Subscript) else None
    if isinstance(place, ast.Constant):
        return type(place.value) is type(key) and place.value == key
    if not isinstance(place, ast.Name):
        return False
    modules = (m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == str(program.path))
    values = [vars(module).get(place.id) for module in modules]
    return any(type(value) is type(key) and value == key for value in values)


def in_loop(program: Program, node: ast.AST) -> bool:
    """Whether a statement is executed for one entry after the other."""
    return isinstance(getattr(node, "value", None), ast.DictComp) or any(
        isinstance(above, (ast.For, ast.While)) for above in program.above(node)
    )


def counting_loop(program: Program, node: ast.stmt, value: ast.expr) -> Frame | None:
    """The loop by `enumerate` or over a `range` whose counter is the number, where not each of its turns fills an
    entry."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.DictComp):
        skips = any(one.ifs for one in node.value.generators)
        return at_line(program, node.lineno) if skips else None
    for loop in program.above(node):
        if isinstance(loop, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
        if isinstance(loop, ast.For) and isinstance(value, ast.Name) and counts(loop, value.id):
            return at_line(program, loop.lineno)
    return None


def counts(loop: ast.For, name: str) -> bool:
    """Whether a loop counts its turns in this name."""
    called = final_name(loop.iter.func) if isinstance(loop.iter, ast.Call) else ""
    counter = loop.target
    if called == "enumerate" and isinstance(counter, ast.Tuple) and counter.elts:
        counter = counter.elts[0]
    return called in ("enumerate", "range") and isinstance(counter, ast.Name) and counter.id == name
