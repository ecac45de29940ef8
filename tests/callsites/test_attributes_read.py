"""Attributes that a method reads and writes."""

from __future__ import annotations

import random

from debugtracer.callsites.attributes_read import attributes_used, written_outside


class Rows:
    def __init__(self):
        self.rows, self.hits, self.other, self.order = [1], 0, 2, [0, 1]

    def __getitem__(self, index):
        self.hits += 1
        return self.row(index)

    def row(self, index):
        return [self.rows[i] for i in self.order]

    def draw(self):
        self.rows = [2]

    def mix(self):
        random.shuffle(self.order)


def test_what_the_called_methods_read_belongs_to_it():
    used = attributes_used(Rows, "__getitem__")
    assert {"rows", "hits", "order"} <= used.read
    assert "other" not in used.read
    assert used.written == {"hits"}
    assert used.methods == {"__getitem__", "row"}


def test_the_line_that_writes_elsewhere():
    used = attributes_used(Rows, "__getitem__")
    assert written_outside(Rows, "rows", used.methods).code == "self.rows = [2]"
    assert written_outside(Rows, "order", used.methods).code == "random.shuffle(self.order)"
    assert written_outside(Rows, "hits", used.methods) is None


def test_a_method_without_python_code_has_none():
    assert attributes_used(list, "__getitem__").read == frozenset()
