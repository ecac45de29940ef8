"""No class name stands in two files of one layer: who reads a name in a layer knows which class is meant."""

from __future__ import annotations

import ast
import collections
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "debugtracer"
EXEMPT = {
    "DebugTracerCallback": (
        "the public callback of Lightning and that of Transformers: users import each from the module of its framework"
    ),
}


def layers() -> list[list[str]]:
    """The rooms of each layer, as the import contract of pyproject.toml names them; rooms on one line are one layer."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (lines,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return [re.findall(r"\w+", line) for line in lines]


def files_of(room: str) -> Iterator[Path]:
    """A room is a folder or one file."""
    if (PACKAGE / f"{room}.py").exists():
        yield PACKAGE / f"{room}.py"
    yield from sorted((PACKAGE / room).rglob("*.py"))


def classes(path: Path) -> set[str]:
    """Names of the classes of a file, those in functions and classes too."""
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)}


def shared(files: list[Path]) -> dict[str, list[str]]:
    """Names that stand in more than one of the files."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for path in files:
        for name in classes(path):
            found[name].append(path.name)
    return {name: where for name, where in found.items() if len(where) > 1}


@pytest.mark.parametrize("rooms", layers(), ids="|".join)
def test_a_class_name_stands_in_one_file_of_a_layer(rooms: list[str]) -> None:
    found = shared([path for room in rooms for path in files_of(room)])
    assert {name: where for name, where in found.items() if name not in EXEMPT} == {}


def test_the_exempt_names_are_still_there_twice() -> None:
    assert set(shared([path for rooms in layers() for room in rooms for path in files_of(room)])) >= set(EXEMPT)


def test_every_room_is_in_a_layer() -> None:
    rooms = {room for line in layers() for room in line}
    assert {path.stem for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()} <= rooms


def test_a_name_in_two_files_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("class Call:\n    pass\n")
    (tmp_path / "two.py").write_text("def made():\n    class Call:\n        pass\n")
    assert shared([tmp_path / "one.py", tmp_path / "two.py"]) == {"Call": ["one.py", "two.py"]}
    assert shared([tmp_path / "one.py"]) == {}
