"""The line that would copy weights, and the counter it asks."""

from __future__ import annotations

from collections import ChainMap

import pytest

from debugtracer.callsites.copying_line import copying_line
from debugtracer.trace.birth import Frame

LOOP = """
target.load_state_dict(model.state_dict())
for step in range({range}):
    y = target(x)
    if {test}:
        {copy}
"""
HARD = "target.load_state_dict(model.state_dict())"


def found(tmp_path, text, at="y = target(x)", **values):
    path = tmp_path / f"train{len(list(tmp_path.iterdir()))}.py"  # a file is read once
    path.write_text(text)
    number = next(n for n, code in enumerate(text.splitlines(), 1) if at in code)
    return copying_line(Frame(str(path), number, "<module>", at), values)


def told(tmp_path, range_="0, 4000, 4", test="(step + 1) % EVERY == 0", copy=HARD, **values):
    return found(tmp_path, LOOP.format(range=range_, test=test, copy=copy), **({"EVERY": 50} | values))


def test_a_multiple_that_the_counter_never_meets(tmp_path):
    line = told(tmp_path)
    assert (line.frame.line, line.frame.code) == (5, "if (step + 1) % EVERY == 0:")
    assert line.never == "`(step + 1) % EVERY == 0` never holds for a counter that goes up by 4 from 0"
    assert told(tmp_path, range_="1, 400, 2", test="step % 8 == 0").never


@pytest.mark.parametrize(
    ("range_", "test"),
    [
        ("4000", "(step + 1) % EVERY == 0"),
        ("0, 4000, 3", "(step + 1) % EVERY == 0"),
        ("0, 4000, 4", "step % EVERY == 0"),
        ("0, 4000, 4", "step > 100"),
        ("0, 4000, 4", "(step + 1) % unknown == 0"),
        ("0, 4000, 4", "(other + 1) % EVERY == 0"),
    ],
)
def test_one_that_it_may_meet_is_not_called_never(tmp_path, range_, test):
    assert told(tmp_path, range_, test).never == ""


def test_the_other_branch_is_no_condition_that_never_holds(tmp_path):
    line = told(tmp_path, copy="pass\n    else:\n        " + HARD)
    assert line.never == "" and line.frame.code == HARD


def test_a_loop_over_both_models_copies_too_and_one_that_is_built_once_does_not(tmp_path):
    soft = "for t, p in zip(target.parameters(), model.parameters()): t.data.copy_(p)"
    assert told(tmp_path, test="step % 8 == 0", copy=soft).frame.code == soft
    built, used = "    ref.load_state_dict(model.state_dict())\n", "for x in data:\n        y = ref(x)\n"
    assert found(tmp_path, f'if __name__ == "__main__":\n{built}    {used}', at="y = ref(x)") is None
    assert found(tmp_path, f"def make():\n{built}make()\n{used}", at="y = ref(x)") is None


def test_a_model_that_is_loaded_with_its_own_state_is_no_copy(tmp_path):
    assert told(tmp_path, copy="target.load_state_dict(target.state_dict())") is None


IN_A_FUNCTION = """
def update(step):
    {binds}
    for step in range(0, 4000, 4):
        if (step + 1) % EVERY == 0:
            target.load_state_dict(model.state_dict())

def look(x):
    return target(x)

for step in range(3):
    update(step)
    look(x)
"""


def test_names_are_those_of_the_line_s_own_function(tmp_path):
    def never(binds, at, **values):
        path = tmp_path / f"scope{len(list(tmp_path.iterdir()))}.py"
        path.write_text(IN_A_FUNCTION.format(binds=binds))
        frame = Frame(str(path), 9, at, "return target(x)")
        return copying_line(frame, ChainMap(values, {"EVERY": 50})).never

    assert never("pass", "look")
    assert never("pass", "look", EVERY=51)  # a variable of look, not of update
    assert never("EVERY = 51", "look") == ""  # not known while look runs
    assert never("pass", "update", EVERY=51) == ""
