"""Iterators that one loop uses up before the one that would write."""

from __future__ import annotations

import pytest

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.spent_iterator import spent_in

EMA = """class Ema:
    def __init__(self, model, copy):
        self.kept = {made}
        for p in self.kept:
            p.detach_()

    def step(self):
        for p, q in zip(self.kept, self.live()):
            p.mul_(0.9).add_(q, alpha=0.1)
"""


def spent(tmp_path, text):
    file = tmp_path / f"train_{abs(hash(text))}.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    return spent_in(program, (program,))


@pytest.mark.parametrize("made", ["filter(f, copy.state_dict().values())", "copy.parameters()", "(p for p in copy)"])
def test_one_that_is_gone_through_before_is_found(tmp_path, made):
    found = spent(tmp_path, EMA.format(made=made))
    assert found is not None
    assert (found.name, found.frame.line, found.used_up.line, found.empty.line) == ("self.kept", 3, 4, 8)


@pytest.mark.parametrize("made", ["list(copy.parameters())", "[p for p in copy]", "copy.state_dict().values()"])
def test_a_list_or_a_view_is_none(tmp_path, made):
    assert spent(tmp_path, EMA.format(made=made)) is None


def test_one_loop_in_a_method_is_told_where_that_is_called_again(tmp_path):
    lines = EMA.format(made="zip(model.parameters(), copy.parameters())").splitlines()
    text = "\n".join([*lines[:3], *lines[5:7], "        for q, p in self.kept:", lines[8]])
    assert spent(tmp_path, text + "\nema.step()\n") is None
    found = spent(tmp_path, text + "\nfor x in data:\n    ema.step()\n")
    assert found is not None and found.used_up == found.empty


def test_a_way_to_begin_that_is_left_early_or_is_one_of_two_uses_nothing_up(tmp_path):
    ways = (
        "ps = copy.parameters()\nif a:\n    for p in ps:\n        n += 1\n{}    for p in ps:\n        p.data.mul_(2)\n"
    )
    assert spent(tmp_path, ways.format("else:\n")) is None
    assert spent(tmp_path, ways.format("if b:\n")) is None
    left = "ps = copy.parameters()\nfor p in ps:\n    {}\nfor p in ps:\n    p.data.mul_(2)\n"
    assert spent(tmp_path, left.format("break")) is None
    assert spent(tmp_path, left.format("print(p)")) is not None


def test_an_argument_of_the_same_name_is_another(tmp_path):
    text = (
        "def count(ps):\n    for p in ps:\n        n += 1\ndef halve(ps):\n    for p in ps:\n        p.data.mul_(0.5)\n"
    )
    assert spent(tmp_path, text + "ps = copy.parameters()\n") is None


def test_one_of_the_trained_model_is_none_of_a_copy(tmp_path):
    text = EMA.format(made="copy.parameters()") + "ema = Ema(a, {})\noptimizer = SGD(net.parameters(), lr=0.1)\n"
    assert spent(tmp_path, text.format("net")) is None
    assert spent(tmp_path, text.format("copy=net")) is None
    assert spent(tmp_path, text.format("shadow")) is not None
    own = EMA.format(made="self.net.parameters()").replace("copy)", "net)")
    assert spent(tmp_path, own + "ema = Ema(a, net)\noptimizer = SGD(net.parameters(), lr=0.1)\n") is not None


def test_one_in_the_same_function_a_loop_that_writes_nothing_and_a_name_given_again_are_silent(tmp_path):
    once = "ps = model.parameters()\nfor p in ps:\n    p.data.mul_(2)\n"
    assert spent(tmp_path, once) is None
    assert spent(tmp_path, "ps = model.parameters()\nfor p in ps:\n    n += 1\nfor p in ps:\n    n += 2\n") is None
    assert spent(tmp_path, once + "ps = model.parameters()\nfor p in ps:\n    p.data.mul_(2)\n") is None
