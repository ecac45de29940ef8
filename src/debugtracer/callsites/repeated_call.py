"""Is a method called again on the object that it was called on before, and does a loop come before another one in each
run? Read from the source, nothing is run."""

from __future__ import annotations

import ast
from collections import Counter

from debugtracer.callsites.origins.written_names import final_name
from debugtracer.source.program import Function, Program

DEEP = 4  # callers above a method that are looked at (ours)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_called_again(programs: tuple[Program, ...], function: Function, deep: int = DEEP) -> bool:
    """Whether it is called in a loop, or twice from one function, on an object that is not made anew each time; or its
    only caller is called so."""
    seen: Counter[tuple[ast.AST, str]] = Counter()
    for program in programs:
        for call in (n for n in program.every(ast.Call) if final_name(n.func) == function.name):
            on = call.func.value if isinstance(call.func, ast.Attribute) else None
            if any(isinstance(n, ast.Call) for n in ast.walk(on or call.func)):
                continue
            held = {n.id for n in ast.walk(on) if isinstance(n, ast.Name)} if on is not None else set()
            caller = program.function(call)
            for around in program.above(call):
                if around is caller:
                    break
                if isinstance(around, LOOPS):
                    if held & stored(around):
                        break
                    return True
            else:
                caller = None
            seen[caller or program.tree, ast.unparse(call.func)] += 1
            if not isinstance(caller, (ast.FunctionDef, ast.AsyncFunctionDef)) or caller is function:
                continue
            if deep and not held & stored(caller) and is_called_again(programs, caller, deep - 1):
                return True
    return any(times > 1 for times in seen.values())


def stored(holder: ast.AST) -> set[str]:
    """The names that a piece of source gives a value."""
    return {n.id for n in ast.walk(holder) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def comes_before(program: Program, first: ast.For, later: ast.For) -> bool:
    """Whether the first loop is gone through to its end wherever the later one is reached: it is not left early, and
    stands in no branch that the later one does not stand in."""
    left_early = any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(first))
    return not left_early and branches(program, first) <= branches(program, later)


def branches(program: Program, node: ast.AST) -> set[tuple[ast.AST, str]]:
    """The branches in which a statement stands, within its function: who branches, and which way."""
    found: set[tuple[ast.AST, str]] = set()
    inner = node
    for holder in program.above(node):
        if isinstance(holder, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
        if isinstance(holder, (ast.If, ast.Try, ast.ExceptHandler, ast.match_case)):
            lists = ((name, value) for name, value in ast.iter_fields(holder) if isinstance(value, list))
            found.add((holder, next((name for name, value in lists if inner in value), "")))
        inner = holder
    return found
