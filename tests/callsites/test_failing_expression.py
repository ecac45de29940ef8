"""The expression that raised, by the bytecode, with the values of its names."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch
from torch import nn

from debugtracer.callsites.failing_expression import failing_expression, in_words

ROWS = ["3.5", "4.1", "n/a"]


class Table:
    """Records under an attribute, and a property that must not run."""

    asked = 0

    def __init__(self):
        self.ids = {"cat": 0}
        self.kinds = ["cat", "Cow"]

    @property
    def counted(self):
        Table.asked += 1
        return self.ids

    def number(self, at):
        return self.ids[self.kinds[at]]

    def by_property(self, at):
        return self.counted[self.kinds[at]]


def failed(program):
    try:
        program()
    except Exception as error:
        found = failing_expression(error)
        assert found is not None
        return found
    raise AssertionError("it lived")


def number_of(text):
    return float(text)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the bytecode has no columns")
def test_the_smallest_expression_of_the_innermost_function_and_its_line():
    found = failed(lambda: [number_of(row) for row in ROWS])
    assert (found.text, dict(found.given())) == ("float(text)", {"text": "n/a"})
    assert found.frames[0].code == "return float(text)"
    assert "ROWS" in found.frames[1].code


def test_attributes_and_entries_are_read_without_running_code_of_the_program():
    found = failed(lambda: Table().number(1))
    given = dict(found.given())
    assert (given["self.kinds[at]"], given["at"], given["self.ids"]) == ("Cow", 1, {"cat": 0})
    Table.asked = 0
    found = failed(lambda: Table().by_property(1))
    assert (Table.asked, "self.counted" in dict(found.given())) == (1, False)  # once, by the program


def test_names_of_a_comprehension_and_of_the_function_around_it():
    def program():
        table = {"a": 1}
        return [table[word] for word in ("a", "b")]

    assert dict(failed(program).given()) == {"table": {"a": 1}, "word": "b"}


def test_functions_classes_and_modules_are_no_values():
    layer = nn.Linear(2, 3)
    x = torch.zeros(1, 5)
    assert set(dict(failed(lambda: nn.functional.relu(layer(x))).given())) == {"x"}


def test_what_is_unpacked_is_the_value_and_not_the_names_it_was_to_fill():
    def program():
        line = "3.5"
        left, right = line.split(",")
        return left, right

    found = failed(program)
    assert "line" in dict(found.given())
    assert "left" not in dict(found.given())


def test_what_the_program_raises_itself_is_deliberate():
    def raises():
        raise ValueError("too long")

    def asserts():
        assert len(ROWS) == 2, "two rows"

    assert failed(raises).is_deliberate
    assert failed(asserts).is_deliberate
    assert not failed(lambda: ROWS[7]).is_deliberate


def test_nothing_without_a_line_of_the_program():
    assert failing_expression(ValueError("never raised")) is None


def test_values_in_words():
    assert [in_words(v) for v in (None, 3, 2.5, "n/a", True)] == ["None", "3", "2.5", "'n/a'", "True"]
    assert in_words("x" * 100) == repr("x" * 60) + "... (100 long)"
    assert in_words(torch.zeros(2, 3)) == "(2, 3) float32"
    assert in_words(torch.tensor(1.0)) == "() float32"
    assert in_words(np.zeros((4,), np.int64)) == "(4,) int64"
    assert in_words(np.float32(2.5)) == "2.5 (float32)"
    assert in_words([1, 2]) == "a list of 2"
    assert in_words(Table()) == "a Table"
    assert in_words(torch.nested.nested_tensor([torch.zeros(1)])) == "a nested tensor"
