"""The line that keeps, of a saved state, the names that a module has. The source is read, nothing is executed."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.value_origin import program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame


def filtered_at(load: Frame | None) -> Frame | None:
    """The only condition on names before the line of a load, in its function: `{k: v for k, v in state.items() if k in
    own}`, or the same in a loop. None where there is none, or more than one."""
    program = program_of(load.file) if load is not None else None
    if program is None or load is None:
        return None
    scope = scope_at(program, load.line)
    tests: list[ast.expr] = []
    for node in ast.walk(scope if scope is not None else program.tree):
        if isinstance(node, ast.DictComp) and is_items(node.generators[0].iter):
            tests += [test for loop in node.generators for test in loop.ifs if asks_name(test)]
        elif isinstance(node, ast.For) and is_items(node.iter):
            tests += [one.test for one in ast.walk(node) if isinstance(one, ast.If) and asks_name(one.test)]
    here = [test for test in tests if test.lineno < load.line and (program.function(test) is scope)]
    if len(here) != 1:
        return None
    line = here[0].lineno
    return Frame(load.file, line, load.function, program.text.splitlines()[line - 1].strip())


def is_items(node: ast.expr) -> bool:
    """Whether a loop goes through the names and values of a dictionary."""
    return isinstance(node, ast.Call) and final_name(node.func) == "items"


def asks_name(test: ast.expr) -> bool:
    """Whether a condition asks if something has a name."""
    return any(isinstance(n, ast.Compare) and any(isinstance(o, ast.In) for o in n.ops) for n in ast.walk(test))
