"""Which function a call calls."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from debugtracer.callsites.origins.called_function import called_function
from debugtracer.callsites.origins.value_origin import origin, program_of, scope_at
from debugtracer.trace.birth import Frame

MAIN = """\
import layers_of_test as L
from layers_of_test import load as fetch
from layers_of_test import *
def own():
    return 1
class Net:
    def mask(self):
        return 2
    def forward(self, x):
        return self.mask()
a = own()
b = fetch()
c = L.load()
d = load()
e = torch.load()
f = self.load()
g = Net.mask()
h = L.Table.read()
i = Table.read()
j = L.Table.other()
"""
LAYERS = """\
def load():
    table = read() / 3
    return table
class Table:
    @classmethod
    def read(cls):
        return cls()
"""


@pytest.fixture
def main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    layers, file = tmp_path / "layers.py", tmp_path / "train.py"
    layers.write_text(LAYERS)
    file.write_text(MAIN)
    module = ModuleType("layers_of_test")
    module.__file__ = str(layers)
    monkeypatch.setitem(sys.modules, "layers_of_test", module)
    return file


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (10, "mask"),
        (11, "own"),
        (12, "load"),
        (13, "load"),
        (14, "load"),
        (15, None),
        (16, None),
        (17, "mask"),
        (18, "read"),
        (19, "read"),
        (20, None),
    ],
)
def test_by_name_by_import_by_module_and_by_class(main: Path, line: int, name: str | None) -> None:
    program = program_of(str(main))
    assert program is not None
    call = next(n for n in program.nodes if isinstance(n, ast.Call) and n.lineno == line)
    found = called_function(program, scope_at(program, line), call, program_of)
    assert (found[1].name if found is not None else None) == name


def test_a_value_is_followed_into_the_other_file(main: Path) -> None:
    links = origin("b", [Frame(str(main), 14)])
    assert [(Path(link.frame.file).name, link.frame.line, link.kind) for link in links] == [
        ("train.py", 12, "handed"),
        ("layers.py", 2, "made"),
    ]


OBJECTS = """\
class Scaler:
    def transform(self, x):
        return x / self.std
class Other:
    def transform(self, x):
        return x
class Data:
    def __init__(self, plain):
        self.scaler = Scaler()
        self.either = Scaler()
        if plain:
            self.either = Other()
    def read(self, x):
        return self.scaler.transform(x), self.either.transform(x), self.unknown.transform(x)
def main(x):
    scaler = Scaler()
    return scaler.transform(x)
"""


def test_a_method_of_an_object_whose_only_class_is_known(tmp_path: Path) -> None:
    file = tmp_path / "objects_of_test.py"
    file.write_text(OBJECTS)
    program = program_of(str(file))
    assert program is not None
    calls = sorted(
        (n for n in program.nodes if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("transform")),
        key=lambda n: (n.lineno, n.col_offset),
    )
    found = [called_function(program, scope_at(program, call.lineno), call, program_of) for call in calls]
    assert [one and one[1].lineno for one in found] == [2, None, None, 2]


CALLABLE = """\
class Scaler:
    def __init__(self, table):
        self.mean = table.mean(0)
    def __call__(self, table):
        return table - self.mean
    def back(self, table):
        return table + self.mean
def main(x):
    scale = Scaler(x)
    a = scale(x)
    b = Scaler(x)(x)
    c = Scaler(x).back(x)
    d = unknown(x)(x)
"""


def test_an_object_that_is_called_and_one_that_is_made_on_the_same_line(tmp_path: Path) -> None:
    file = tmp_path / "callable_of_test.py"
    file.write_text(CALLABLE)
    program = program_of(str(file))
    assert program is not None
    lines = {}
    for call in program.every(ast.Assign):
        value = call.value
        if call.lineno > 9 and isinstance(value, ast.Call):
            found = called_function(program, scope_at(program, call.lineno), value, program_of)
            lines[ast.unparse(call.targets[0])] = found and found[1].lineno
    assert lines == {"a": 4, "b": 4, "c": 6, "d": None}
