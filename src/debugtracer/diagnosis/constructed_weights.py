"""The lines that gave a parameter or a buffer its first value: in the constructor of the class that holds it, or of one
around it, or where a class of a library was given it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence

from torch import nn

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.given_origin import given_origin
from debugtracer.callsites.origins.nonfinite_origin import nonfinite_first
from debugtracer.callsites.origins.value_origin import Link, Use, chain, program_of
from debugtracer.callsites.origins.weight_origin import writes
from debugtracer.callsites.origins.written_names import Function
from debugtracer.errors import guarded
from debugtracer.recorder.state.roots import Roots, plain_path
from debugtracer.source.program import Program, methods
from debugtracer.trace.birth import Frame


@guarded("diagnosis.constructed_weights")
def constructed_lines(name: str, roots: Roots, heard: Sequence[NumericWarning]) -> tuple[Frame, ...]:
    """The lines that made a bad value of `parameter PATH` or `buffer PATH` before the first step, the one that can have
    made it NaN or Inf first; empty where no class of the program writes it and none was given it."""
    kind, _, path = name.partition(" ")
    if kind not in ("parameter", "buffer"):
        return ()
    for module, inner in holders(path, roots):
        for program, owner in classes_of(module):
            links = written_in(program, owner, inner)
            if links:
                return nonfinite_first(links, some=True, heard=heard)
        given = given_origin(type(module), inner)
        if given:
            return nonfinite_first(given, some=True, heard=heard)
    return ()


def holders(path: str, roots: Roots) -> Iterator[tuple[nn.Module, str]]:
    """Yield the modules around a parameter from the inside out, each with the path from it."""
    for module, root in list(roots.known.items()):
        top = (root.owner() if root.owner is not None else None) or module
        held = {plain_path(name): one for name, one in top.named_modules()}
        parts = path.split(".")
        if any(plain_path(name) == path for name, _ in (*top.named_parameters(), *top.named_buffers())):
            for cut in range(len(parts) - 1, -1, -1):
                if (one := held.get(".".join(parts[:cut]))) is not None:
                    yield one, ".".join(parts[cut:])
            return


def classes_of(module: nn.Module) -> Iterator[tuple[Program, ast.ClassDef]]:
    """Yield the program's own classes that a module is an instance of, in the order of inheritance, as source."""
    for kind in type(module).__mro__:
        try:
            file, line = inspect.getsourcefile(kind), inspect.getsourcelines(kind)[1]
        except (OSError, TypeError):
            continue  # a library's in C, or a class of a cell that is gone
        program = program_of(file) if file is not None else None
        for node in program.nodes if program is not None else ():
            named = isinstance(node, ast.ClassDef) and node.name == kind.__name__
            if program is not None and isinstance(node, ast.ClassDef) and named and starts_at(node) == max(line, 1):
                yield program, node


def starts_at(node: ast.ClassDef) -> int:
    """The first line of a class, its decorators included."""
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def written_in(program: Program, owner: ast.ClassDef, path: str) -> tuple[Link, ...]:
    """The lines of a class that write `self.PATH`: what its constructor gives it, or fills it with."""
    home = methods(owner).get("__init__")
    if home is None:
        return ()
    node = ast.parse(f"self.{path}", mode="eval").body
    links = chain(Use(program, home, node), home.end_lineno or home.lineno) if "." not in path else ()
    return links or tuple(filled(program, owner, home, path))


def filled(program: Program, owner: ast.ClassDef, home: Function, path: str) -> Iterator[Link]:
    """Yield the statements of the class that write into the weight of a layer, the last one first."""
    found = [n for n in ast.walk(owner) if isinstance(n, ast.stmt) and writes(n, f"self.{path}")]
    for node in sorted(found, key=lambda n: -n.lineno):
        scope = program.function(node)
        inside = scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)) else home
        if isinstance(node, (ast.Assign, ast.Expr)):
            use = Use(program, inside, node.value)
            yield Link(use.frame(node), "made", use)
