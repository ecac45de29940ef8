"""The line of a random split that is drawn anew for each part of the data: in the class that both parts are objects of,
or in a function that is called once for each part. The source is read, nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from debugtracer.callsites.origins.drawn_orders import SEEDED
from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.value_origin import Use, program_of
from debugtracer.callsites.origins.written_names import Function, final_name
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame

SPLITS = frozenset({"train_test_split", "random_split"})
ORDERS = frozenset({"randperm", "permutation", "shuffle", "sample", "choice"})
GLOBAL = frozenset({"", "random", "np.random", "numpy.random", "torch", "torch.utils.data", "data"})
"""What the generator of the process is called by."""
SEEDS = frozenset({
    "seed", "manual_seed", "seed_everything", "set_seed", "setstate", "set_state", "set_rng_state", "fork_rng",
})  # fmt: skip
"""Calls that make the next draw the one of before."""


def drawn_anew(train: Any, other: Any, built: Frame | None) -> Frame | None:
    """The line that draws which rows belong to one of two data sets (below any Subset), where it runs for each of them
    and nothing makes it draw the same; `built` is where the loader of one was built. None where there is none, or
    several."""
    if type(train) is type(other) and train is not other:
        found = of_class(type(train))
        if found is not None:
            return found
    program = program_of(built.file) if built is not None else None
    return of_function(program) if program is not None else None


def of_class(kind: type) -> Frame | None:
    """The split in the construction of a class, or in the methods that it calls."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    node = function_at(program, code) if program is not None and code is not None else None
    owner = program.owner(node) if program is not None and node is not None else None
    if program is None or node is None or owner is None:
        return None
    own, run = methods(owner), [node]
    for function in run:  # grows as it is read
        called = [n.func for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        names = [f.attr for f in called if isinstance(f.value, ast.Name) and f.value.id == "self"]
        run += [one for name in dict.fromkeys(names) if (one := own.get(name)) is not None and one not in run]
    return only([frame for function in run for frame in draws(program, function)]) if not seeds(run) else None


def of_function(program: Program) -> Frame | None:
    """The split in a function of the file that is called at several places, with other constants at each."""
    found: list[Frame] = []
    for function in program.tree.body:
        if not isinstance(function, ast.FunctionDef) or seeds([function]):
            continue
        calls = [n for n in program.every(ast.Call) if final_name(n.func) == function.name]
        given = {tuple(constants(call)) for call in calls}
        if len(given) > 1 and all(given):
            found += draws(program, function)
    return only(found)


def constants(call: ast.Call) -> list[str]:
    """The constants that a call is given."""
    every = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [ast.unparse(value) for value in every if isinstance(value, ast.Constant)]


def draws(program: Program, function: Function) -> Iterator[Frame]:
    """Yield the lines of a function that draw who belongs to which part, by the generator of the process."""
    cuts = any(
        isinstance(n, ast.Slice) and n.upper is None and n.lower is not None for n in ast.walk(function)
    ) and any(isinstance(n, ast.Slice) and n.lower is None and n.upper is not None for n in ast.walk(function))
    for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
        name = final_name(call.func)
        holder = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        known = name in SPLITS or (name in ORDERS and cuts)
        if known and holder in GLOBAL and not any(keyword.arg in SEEDED for keyword in call.keywords):
            yield Use(program, function, call).frame(call)


def seeds(run: list[Function]) -> bool:
    """Whether one of these functions seeds the generator of the process."""
    return any(isinstance(n, ast.Call) and final_name(n.func) in SEEDS for function in run for n in ast.walk(function))


def only(found: list[Frame]) -> Frame | None:
    """The only line; None where there is none, or several."""
    return found[0] if len(found) == 1 else None
