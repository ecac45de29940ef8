"""An iterator that one loop of the program uses up, so that a later one goes through nothing: `self.params =
filter(...)`, `params = model.parameters()`. Read from the source, nothing is run."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from debugtracer.callsites.origins.setting_origin import at_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files, with_words
from debugtracer.callsites.repeated_call import comes_before, is_called_again
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

MAKERS = frozenset({"filter", "map", "zip", "iter", "enumerate", "reversed"})
OF_MODULES = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
"""Methods of a module that give a generator."""
WRITES = frozenset({"copy_", "mul_", "add_", "sub_", "lerp_", "div_", "addcmul_"})
WRITTEN = re.compile(rf"\.(?:{'|'.join(sorted(WRITES))})\(|\.data\b")
"""Without one of them no loop of a file writes in place."""
WRAPS = frozenset({"zip", "enumerate", "map", "filter"})


class SpentIterator(NamedTuple):
    """Where it is made, the loop that uses it up, the one that goes through nothing, and under which name."""

    frame: Frame
    used_up: Frame
    empty: Frame
    name: str


def spent_iterator() -> SpentIterator | None:
    """The first one in the program over which a loop writes tensors in place and finds nothing to write."""
    files = program_files() or []
    if not with_words(files, WRITTEN):
        return None
    programs = tuple(program for file in files if (program := program_of(file)) is not None)
    return next((found for program in programs if (found := spent_in(program, programs)) is not None), None)


def spent_in(program: Program, programs: tuple[Program, ...]) -> SpentIterator | None:
    """The same in one of the program's files, of which `programs` are all. A name without an object holds in its own
    scope alone, where a function may have an argument of that name."""
    for node in program.nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not makes_iterator(node.value):
            continue
        name, made = ast.unparse(node.targets[0]), program.function(node)
        held = name.startswith("self.")
        within = program.owner(node) if held else made or program.tree
        if within is None or written_again(within, node, name) or all_trained(programs, program, node):
            continue
        loops = [n for n in ast.walk(within) if isinstance(n, ast.For) and goes_through(n.iter, name)]
        loops = sorted((n for n in loops if held or program.function(n) is made), key=lambda loop: loop.lineno)
        later = [loop for loop in loops[1:] if writes(loop) and comes_before(program, loops[0], loop)]
        again = [loop for loop in loops[:1] if writes(loop) and is_run_again(programs, program, node, loop)]
        if later or again:
            empty = (later or again)[0]
            made_at, used_up, nothing = (at_line(program, one.lineno) for one in (node, loops[0], empty))
            return SpentIterator(made_at, used_up, nothing, name)
    return None


def makes_iterator(node: ast.expr) -> bool:
    """Whether an expression gives something that can be gone through once."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in MAKERS
    return final_name(node.func) in OF_MODULES and not node.args


def goes_through(node: ast.expr, name: str) -> bool:
    """Whether a loop goes through the values of a name itself, alone or beside others."""
    if isinstance(node, ast.Call) and final_name(node.func) in WRAPS:
        return any(goes_through(one, name) for one in node.args)
    return ast.unparse(node) == name


def written_again(within: ast.AST, node: ast.Assign, name: str) -> bool:
    """Whether anything else gives the name a value."""
    stores = [n for n in ast.walk(within) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store)]
    return sum(ast.unparse(n) == name for n in stores) > 1


def writes(loop: ast.For) -> bool:
    """Whether the body of a loop writes what it goes through in place."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    calls = [n.func for n in ast.walk(loop) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return any(
        f.attr in WRITES and any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(f.value)) for f in calls
    ) or any(isinstance(n, ast.Attribute) and n.attr == "data" and isinstance(n.ctx, ast.Store) for n in ast.walk(loop))


def is_run_again(programs: tuple[Program, ...], program: Program, node: ast.Assign, loop: ast.For) -> bool:
    """Whether the loop stands in another method than the one that makes the iterator, and that one is called again."""
    made, used = program.function(node), program.function(loop)
    return (
        isinstance(used, (ast.FunctionDef, ast.AsyncFunctionDef))
        and made is not used
        and comes_before(program, loop, loop)
        and is_called_again(programs, used)
    )


def all_trained(programs: tuple[Program, ...], program: Program, node: ast.Assign) -> bool:
    """Whether all the modules of which an iterator gives the weights are given to an optimizer: it is of no copy."""
    made = program.function(node)
    given = modules_in(node.value)
    for n, arg in enumerate(made.args.args if isinstance(made, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()):
        if arg.arg not in given:
            continue
        owner = program.owner(node)
        called = owner.name if owner is not None and made is not None else getattr(made, "name", "")
        calls = [c for p in programs for c in p.every(ast.Call) if final_name(c.func) == called]
        passed = [argument(call, arg.arg, n - (owner is not None)) for call in calls]
        given = (given - {arg.arg}) | {ast.unparse(one) for one in passed if one is not None}
    trained = {
        name
        for one in programs
        for call in one.nodes
        if isinstance(call, ast.Call) and any(word.arg == "lr" for word in call.keywords)
        for name in modules_in(call)
    }
    return bool(given) and given <= trained


def modules_in(node: ast.expr) -> set[str]:
    """The names of those whose `parameters()` and the like an expression asks for."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    return {ast.unparse(f.value) for f in calls if f.attr in OF_MODULES | {"state_dict"}}


def argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """What a call gives an argument."""
    named = next((word.value for word in call.keywords if word.arg == name), None)
    return named if named is not None else call.args[place] if 0 <= place < len(call.args) else None
