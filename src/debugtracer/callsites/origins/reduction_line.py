"""The line of the program that asks a loss for another reduction than the mean: the argument of the call itself, or the
only one that is written out in the file or in the program, as where the loss is built."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.setting_origin import at_line, loaded
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame


def reduction_line(called: Frame | None, reduction: str) -> Frame | None:
    """The line of that argument for the loss that was called on a line; None where it is not written out once."""
    own = program_of(called.file) if called is not None else None
    if own is None or called is None:
        return None
    here = [line for line, call in asking(own, reduction) if call.lineno <= called.line <= (call.end_lineno or 0)]
    if here:
        return at_line(own, here[0])
    near = [(own, line) for line, _ in asking(own, reduction)]
    every = near or [(program, line) for program in loaded(own) for line, _ in asking(program, reduction)]
    return at_line(*every[0]) if len(every) == 1 else None


def asking(program: Program, reduction: str) -> list[tuple[int, ast.Call]]:
    """The calls of a file that ask for it, each with the line of the argument."""
    return [
        (keyword.value.lineno, call)
        for call in program.every(ast.Call)
        for keyword in call.keywords
        if (keyword.arg == "reduction" and isinstance(keyword.value, ast.Constant) and keyword.value.value == reduction)
        or (keyword.arg == "size_average" and reduction == "sum" and is_false(keyword.value))
    ]


def is_false(node: ast.expr) -> bool:
    """True for the word itself, not for an expression that may be so."""
    return isinstance(node, ast.Constant) and node.value is False
