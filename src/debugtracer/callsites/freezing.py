"""Where the user's source freezes parameters: lines that set requires_grad to False."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import methods
from debugtracer.trace.birth import Frame


def freezing_line(files: Iterable[str]) -> Frame | None:
    """Return the only line of these files that freezes; None where there is none, or several. Reads source."""
    found = [frame for file in dict.fromkeys(files) for frame in freezing_lines(file)]
    return found[0] if len(found) == 1 else None


def freezing_lines(file: str) -> list[Frame]:
    """Return all of one file, in the order of the text; empty for a library's."""
    program = program_of(file)
    if program is None:
        return []
    found = []
    for node in program.nodes:
        if freezes(node):
            line = getattr(node, "lineno", 1)
            around = program.function(node)
            name = getattr(around, "name", "<module>")
            found.append(Frame(file, line, name, linecache.getline(file, line).strip()))
    return found


def freezes(node: ast.AST) -> bool:
    """True for `p.requires_grad = False` and `p.requires_grad_(False)`."""
    if isinstance(node, ast.Assign):
        return is_false(node.value) and any(
            isinstance(target, ast.Attribute) and target.attr == "requires_grad" for target in node.targets
        )
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "requires_grad_"
        and any(is_false(value) for value in [*node.args, *(word.value for word in node.keywords)])
    )


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
