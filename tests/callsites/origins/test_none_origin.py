"""Under which conditions a name that is None is set and used."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.none_origin import none_origin
from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at

CLASS = """
class Stage:
    def __init__(self, wide):
        self.short = None
        if wide:
            self.short = Layer()

    def forward(self, x):
        if x.big:
            x = self.short(x)
        else:
            y = self.short(x)
        return self.short(x)
"""


def found(tmp_path, text, line, name):
    """None's line and the two conditions of the call on a line."""
    file = tmp_path / f"train{len(list(tmp_path.iterdir()))}.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    node = next(n for n in program.every(ast.Call) if n.lineno == line)
    one = none_origin(Use(program, scope_at(program, line), node), name)
    if one is None:
        return None
    return one.frame.line, *((c.frame.line, c.text) if c is not None else None for c in one[1:])


def test_the_condition_of_the_other_value_and_that_of_the_use(tmp_path):
    assert found(tmp_path, CLASS, 10, "self.short") == (4, (5, "wide"), (9, "x.big"))
    assert found(tmp_path, CLASS, 12, "self.short") == (4, (5, "wide"), (9, "not (x.big)"))
    assert found(tmp_path, CLASS, 13, "self.short") == (4, (5, "wide"), None)


def test_a_plain_name(tmp_path):
    text = "def fit(a):\n    x = None\n    if a:\n        x = 3\n    return f(x)\n"
    assert found(tmp_path, text, 5, "x") == (2, (3, "a"), None)


def test_nothing_where_no_none_is_written_out_or_several_are(tmp_path):
    assert found(tmp_path, "def fit(x=None):\n    return f(x)\n", 2, "x") is None
    assert found(tmp_path, "def fit():\n    x = g()\n    return f(x)\n", 2, "x") is None
    assert found(tmp_path, "def fit():\n    x = None\n    x = None\n    return f(x)\n", 4, "x") is None


def test_another_value_that_is_set_in_two_places_or_in_another_method_has_no_condition(tmp_path):
    text = CLASS.replace(
        "            self.short = Layer()\n", "            self.short = Layer()\n        self.short = 1\n"
    )
    assert found(tmp_path, text, 11, "self.short") == (4, None, (10, "x.big"))
    far = CLASS.replace("        if wide:\n            self.short = Layer()\n", "") + (
        "    def build(self, a):\n        if a:\n            self.short = 1\n"
    )
    assert found(tmp_path, far, 8, "self.short") == (4, None, (7, "x.big"))
