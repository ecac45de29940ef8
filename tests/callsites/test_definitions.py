"""Lines found in the source."""

from __future__ import annotations

import functools
import inspect

import torch
from torch import nn

from debugtracer.callsites import definitions
from debugtracer.callsites.definitions import assigned_at, defined_at, grown_at, parsed, returned_at, zeroed_at


class Base:
    def __init__(self, rng):
        self.rng, self.other = rng, 1


class Late(Base):
    def reset(self):
        self.rng = 0

    def __init__(self):
        super().__init__(2)
        self.late: int = 5


def loop(losses):
    total, seen, mean = 0.0, {}, 0.0
    for loss in losses:
        total += loss
        seen.setdefault("a", []).append(loss)
        seen["b"] = loss
        mean = 0.9 * mean + 0.1 * loss
        again = loss
    return total, again


class Meter:
    def add(self, value):
        self.kept.append(value)


def line(frame) -> str | None:
    return frame.code if frame is not None else None


def test_where_an_attribute_is_set():
    assert line(assigned_at(Base, "rng")) == line(assigned_at(Base, "other")) == "self.rng, self.other = rng, 1"
    assert line(assigned_at(Late, "late")) == "self.late: int = 5"
    assert assigned_at(Late, "rng").code == "self.rng = 0"  # the class's own lines come before those of its base
    assert assigned_at(Late, "nothing") is None
    assert assigned_at(dict, "keys") is None


def test_a_class_is_read_once(monkeypatch):
    class Asked(Base):
        def keep(self):
            self.kept = [self.private() for _ in range(2)]

        def private(self):
            self.__hidden = 1

    class Unhashable(type):
        def __eq__(cls, other):
            raise AssertionError

        __hash__ = None

    class Odd(metaclass=Unhashable):
        def __init__(self):
            self.odd = 3

    read = []
    monkeypatch.setattr(definitions, "parsed", lambda function: read.append(function.__name__) or real(function))
    real = parsed
    assert line(assigned_at(Asked, "kept")) == line(assigned_at(Asked, "kept"))
    assert read == ["keep"]  # a function that does not name it is not parsed
    assert line(assigned_at(Asked, "__hidden")) == "self.__hidden = 1"
    assert line(assigned_at(Odd, "odd")) == "self.odd = 3"


def test_where_a_name_grows():
    assert line(grown_at(loop, "total")) == "total += loss"
    assert line(grown_at(loop, "mean")) == "mean = 0.9 * mean + 0.1 * loss"
    assert line(grown_at(loop, "seen")) == 'seen["b"] = loss'
    assert grown_at(loop, "again") is None
    assert line(grown_at(Meter.add, "self.kept")) == "self.kept.append(value)"


def test_in_a_script_the_whole_file_is_read(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("total = 0\nfor x in range(3):\n    total += x\n")
    frame = grown_at(compile(script.read_text(), str(script), "exec"), "total")
    assert (frame.line, frame.file) == (3, str(script))


def test_where_a_function_is_defined():
    here = inspect.getsourcelines(loop)[1]
    assert defined_at(loop).line == defined_at(functools.partial(loop, [])).line == here
    assert defined_at(len) is None


def test_where_a_function_returns():
    found = returned_at(loop)
    assert found is not None and found.code == "return total, again"
    assert returned_at(Meter.add) is None
    assert returned_at(torch.utils.data.TensorDataset.__getitem__) is None


def test_source_that_cannot_be_read_gives_nothing():
    assert grown_at(compile("a += 1", "<string>", "exec"), "a") is None


class Adapter:
    def __init__(self):
        self.down, self.gate = torch.ones(2), torch.zeros(2)
        self.reset()

    def reset(self):
        nn.init.zeros_(self.down)
        self.up.weight.data.zero_()


def test_where_an_attribute_is_filled_with_zeros():
    assert line(zeroed_at(Adapter, "down")) == "nn.init.zeros_(self.down)"
    assert line(zeroed_at(Adapter, "up")) == "self.up.weight.data.zero_()"
    assert line(zeroed_at(Adapter, "gate")) == "self.down, self.gate = torch.ones(2), torch.zeros(2)"
    assert zeroed_at(Adapter, "nothing") is None
