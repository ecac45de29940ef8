"""A word, a set of words or a function stands in one file of the package; numbers may be equal by chance."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src" / "debugtracer"
SHORT = 60  # characters of a function's body below which two may read the same by chance


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, value) of the constants of a module that are made of literals and are no numbers."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        else:
            continue
        for name, given in pairs:
            literals = [part for part in ast.walk(given) if isinstance(part, ast.Constant)]
            if isinstance(given, ast.Call) and ast.unparse(given.func) == "TypeVar":
                continue  # belongs to the functions of its file
            if (
                isinstance(name, ast.Name)
                and not name.id.startswith("__")
                and any(isinstance(part.value, str) for part in literals)
            ):
                yield name.id, ast.unparse(given)


def functions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(arguments and body without docstring, both as text) of the functions of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            text = "\n".join(map(ast.unparse, body))
            if len(text) >= SHORT:
                yield ast.unparse(node.args), text


def twice(sources: Mapping[str, str]) -> list[str]:
    """What stands in two of these files, and in which."""
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file, text in sources.items():
        tree = ast.parse(text)
        for known in (*constants(tree), *functions(tree)):
            places[known].add(file)
    return [
        f"{name} = {value[:80]}: {', '.join(sorted(files))}"
        for (name, value), files in places.items()
        if len(files) > 1
    ]


def test_nothing_is_written_twice():
    assert twice({str(file.relative_to(SOURCES)): file.read_text() for file in SOURCES.rglob("*.py")}) == []


def test_what_is_written_twice_is_found_and_equal_numbers_are_not():
    body = (
        'def f(x):\n    """{}"""\n    known = [one for one in '
        "x if one is not None]\n    return sorted(known, key=str)\n"
    )
    one = 'A, B = "loss", 16\nC = frozenset({"a", "b"})\n' + body.format("One.")
    two = 'A: str = "loss"\nB = 16\nC = frozenset({"a", "c"})\n' + body.format("Two.").replace("def f", "def g")
    assert [line.partition(" = ")[0] for line in twice({"one.py": one, "two.py": two})] == ["A", "x"]
