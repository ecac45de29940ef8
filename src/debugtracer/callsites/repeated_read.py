"""Where a dataset reads the same file anew for each sample: a read in `__getitem__` that does not depend on the
index."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from typing import Any

from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.sample_origin import function_at
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import Function, final_name, names_in
from debugtracer.source.program import Program
from debugtracer.trace.birth import Frame

WHOLE = frozenset({
    "load", "safe_load", "loadtxt", "genfromtxt", "read_csv", "read_json", "read_parquet", "read_pickle", "read_excel",
    "read_table", "read_text", "read_bytes", "readlines", "read", "loadmat",
})  # fmt: skip
"""Functions that read all of a file; `read(n)` reads a part."""
CACHES = ("cache", "lru_cache", "cached_property")


def repeated_read(dataset: Any) -> Frame | None:
    """The first such line of the dataset's own source; None where there is none. Nothing is executed."""
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):  # a Subset hands on
        dataset = dataset.dataset
    code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    function = function_at(program, code) if program is not None and code is not None else None
    if program is None or function is None or len(function.args.args) < 2:
        return None
    found = next(reads(program, function, {function.args.args[1].arg}, 0), None)
    if found is None:
        return None
    file, line, name = found
    return Frame(file, line, name, linecache.getline(file, line).strip())


def reads(program: Program, function: Function, moved: set[str], depth: int) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and function of reads that none of the names which change from sample to sample goes into."""
    changing = spread(function, moved)
    for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.Call)), key=lambda n: n.lineno):
        held = any(isinstance(above, (ast.If, ast.Try, ast.IfExp)) for above in within(program, node, function))
        if held or names_in(node) & changing:
            continue
        if final_name(node.func) in WHOLE and not partial(node):
            yield str(program.path), node.lineno, function.name
        called = called_function(program, function, node, program_of) if depth == 0 else None
        if called is not None and not any(final_name(undecorated(d)) in CACHES for d in called[1].decorator_list):
            yield from reads(called[0], called[1], set(), depth + 1)


def spread(function: Function, moved: set[str]) -> set[str]:
    """The names that depend on these: what is computed of them, and handles that are moved by them."""
    changing = set(moved)
    for _ in range(2):
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                changing |= stored(*targets) if names_in(node.value) & changing else set()
            elif isinstance(node, ast.For) and names_in(node.iter) & changing:
                changing |= stored(node.target)
            elif isinstance(node, ast.withitem) and node.optional_vars and names_in(node.context_expr) & changing:
                changing |= stored(node.optional_vars)
            elif isinstance(node, ast.Call) and final_name(node.func) == "seek" and names_in(node) & changing:
                changing |= names_in(node.func)
    return changing - {"self"}


def within(program: Program, node: ast.AST, function: Function) -> Iterator[ast.AST]:
    """The nodes around one, up to its function."""
    for above in program.above(node):
        if above is function:
            return
        yield above


def partial(call: ast.Call) -> bool:
    """True for a read of a part: `read(64)`, a memory map."""
    mapped = any(k.arg == "mmap_mode" for k in call.keywords)
    return mapped or (final_name(call.func) in ("read", "readlines") and bool(call.args))


def undecorated(node: ast.expr) -> ast.expr:
    """The name of a decorator, also of one with arguments."""
    return node.func if isinstance(node, ast.Call) else node


def stored(*targets: ast.expr) -> set[str]:
    """The plain names that these targets give a value."""
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
