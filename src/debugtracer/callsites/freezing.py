"""Where the user's source freezes parameters: lines that set requires_grad to False."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterable

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame

PARTS = frozenset({
    "parameters", "named_parameters", "modules", "named_modules", "children", "named_children",
})  # fmt: skip
"""Methods of a module that give its parts."""


def freezing_line(files: Iterable[str]) -> Frame | None:
    """Return the only line of these files that freezes; None where there is none, or several. Reads source."""
    found = [frame for file in dict.fromkeys(files) for frame in freezing_lines(file)]
    return found[0] if len(found) == 1 else None


def freezing_lines(file: str) -> list[Frame]:
    """Return all of one file, in the order of the text; empty for a library's."""
    return lines_where(file, lambda program, node: freezes(node))


def lines_where(file: str, wanted: Callable[[Program, ast.AST], bool]) -> list[Frame]:
    """Return the lines of the nodes that are wanted, in the order of the text; empty for a library's file."""
    program = program_of(file)
    if program is None:
        return []
    found = []
    for node in program.nodes:
        if wanted(program, node):
            line = getattr(node, "lineno", 1)
            around = program.function(node)
            name = getattr(around, "name", "<module>")
            found.append(Frame(file, line, name, linecache.getline(file, line).strip()))
    return found


def refreezing_line(files: Iterable[str]) -> Frame | None:
    """Return the only line that may freeze while a loop goes on: it stands in one, or in a function that is called in
    one; None where there is none, or several. Reads source."""
    files = list(dict.fromkeys(files))
    programs = [program for file in files if (program := program_of(file)) is not None]
    repeated = called_again(programs)

    def wanted(program: Program, node: ast.AST) -> bool:
        value = given_to(node)
        if value is None or (isinstance(value, ast.Constant) and value.value is not False):
            return False
        return is_repeated(program, node) or getattr(program.function(node), "name", "") in repeated

    found = [frame for file in files for frame in lines_where(file, wanted)]
    return found[0] if len(found) == 1 else None


def calling_line(files: Iterable[str], frozen: Frame) -> Frame | None:
    """Return the only line that calls, in a loop, the function of a line that freezes; None where that line stands in
    the loop itself, or several call. Reads source."""

    def wanted(program: Program, node: ast.AST) -> bool:
        called = isinstance(node, ast.Call) and final_name(node.func) == frozen.function.rpartition(".")[2]
        return called and is_repeated(program, node)

    found = [frame for file in dict.fromkeys(files) for frame in lines_where(file, wanted)]
    return found[0] if len(found) == 1 else None


def called_again(programs: Iterable[Program]) -> set[str]:
    """The names of what is called in a loop, and of what functions of these names call."""
    inside: dict[str, set[str]] = {"": set()}
    for program in programs:
        for node in program.nodes:
            if isinstance(node, ast.Call):
                by = "" if is_repeated(program, node) else getattr(program.function(node), "name", "<module>")
                inside.setdefault(by, set()).add(final_name(node.func))
    found, new = set[str](), inside[""]
    while new:
        found |= new
        new = {name for by in new for name in inside.get(by, ())} - found
    return found


def is_repeated(program: Program, node: ast.AST) -> bool:
    """Whether it stands in a loop of its function that is not one over the parts of a model."""
    around = program.function(node)
    return any(
        isinstance(above, (ast.For, ast.While)) and program.function(above) is around and not goes_over_parts(above)
        for above in program.above(node)
    )


def goes_over_parts(loop: ast.For | ast.While) -> bool:
    """True for `for p in model.parameters()` and its like."""
    return isinstance(loop, ast.For) and any(
        isinstance(node, ast.Call) and final_name(node.func) in PARTS for node in ast.walk(loop.iter)
    )


def freezes(node: ast.AST) -> bool:
    """True for `p.requires_grad = False` and `p.requires_grad_(False)`."""
    value = given_to(node)
    return value is not None and is_false(value)


def given_to(node: ast.AST) -> ast.expr | None:
    """What a line sets requires_grad to: of `p.requires_grad = value` and of `p.requires_grad_(value)`."""
    if isinstance(node, ast.Assign):
        named = any(isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in node.targets)
        return node.value if named else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        return next(iter([*node.args, *(word.value for word in node.keywords)]), None)
    return None


def is_false(value: ast.expr) -> bool:
    """True for the word False itself."""
    return isinstance(value, ast.Constant) and value.value is False


def train_that_freezes(frame: Frame | None) -> Frame | None:
    """The `def train` of the class that a freezing line stands in, where that method or one it calls is what freezes:
    the part is meant to be frozen whenever the model trains. None for any other line."""
    program = program_of(frame.file) if frame is not None else None
    scope = scope_at(program, frame.line) if program is not None and frame is not None else None
    owner = program.owner(scope) if program is not None and scope is not None else None
    train = methods(owner).get("train") if owner is not None else None
    if frame is None or scope is None or train is None:
        return None
    called = {final_name(node.func) for node in ast.walk(train) if isinstance(node, ast.Call)}
    if scope is not train and scope.name not in called:
        return None
    return Frame(frame.file, train.lineno, "train", linecache.getline(frame.file, train.lineno).strip())
