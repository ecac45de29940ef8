"""Values followed behind the parameters of functions that have returned."""

from __future__ import annotations

import ast

import pytest

from debugtracer.callsites.origins.only_caller import written
from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at

CLOSURE = """\
def loop(model, features):
    packed = (features, 1)
    def inner():
        return model(packed)
    return inner
def prepare(raw):
    clean = raw / raw.sum()
    return clean, 2
table, rest = prepare(read())
run = loop(net, table)
"""
CLASS = """\
class Rows(Dataset):
    def __init__(self, x, y):
        self.x = x
    def __getitem__(self, i):
        return self.x[i]
x = (raw - low) / (high - low)
train = Rows(x[:80], y)
test = Rows(x[80:], y)
"""
HANDED_ON = """\
def outer(data):
    return middle(data)
def middle(data):
    return Rows(data)
class Rows:
    def __init__(self, data):
        self.data = data
whole = outer(scaled(7) * 2)
"""
RECURSIVE = """\
def walk(x):
    return walk(x)
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch):
    """No other file is of the program."""
    monkeypatch.setattr("debugtracer.callsites.origins.only_caller.program_files", lambda: None)


def lines(tmp_path, text, line, expression, part=None):
    file = tmp_path / "train.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    use = Use(program, scope_at(program, line), ast.parse(expression, mode="eval").body, (), part)
    return [link.frame.line for link in written(use, line)]


def test_a_parameter_of_the_function_around_is_what_its_call_passes(tmp_path):
    assert lines(tmp_path, CLOSURE, 4, "features") == [9, 7]


def test_a_constructor_is_called_by_the_name_of_its_class(tmp_path):
    assert lines(tmp_path, CLASS, 3, "x") == [7, 6, 8, 6]


def test_a_value_is_followed_through_functions_that_hand_it_on(tmp_path):
    assert lines(tmp_path, HANDED_ON, 7, "data") == [8]


def test_a_function_that_nobody_else_calls(tmp_path):
    assert lines(tmp_path, RECURSIVE, 2, "x") == []
    assert lines(tmp_path, "def f(x):\n    return x\n", 2, "x") == []


def test_calls_of_other_files_of_the_program_count(tmp_path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "main.py"
    other.write_text("from train import Rows\nscaled = raw / spread\nrows = Rows(scaled)\n")
    monkeypatch.setattr("debugtracer.callsites.origins.only_caller.program_files", lambda: [str(other)])
    assert lines(tmp_path, "class Rows:\n    def __init__(self, x):\n        self.x = x\n", 3, "x") == [2]


def test_a_method_of_the_same_name_is_another_function(tmp_path):
    text = "def walk(x):\n    return x\ntree.walk(1 / n)\nwalk(2 / n)\n"
    assert lines(tmp_path, text, 2, "x") == [4]
