"""The line that moves the rows of a dataset."""

from __future__ import annotations

import random

from debugtracer.callsites.origins.moving_line import moving_line


class Drawn:
    def __getitem__(self, index):
        place = random.randrange(4)
        return place, index


class Shuffled:
    def __init__(self):
        random.shuffle(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

    def begin(self):
        random.shuffle(self.rows)


class Plain:
    def __getitem__(self, index):
        return index


def test_a_draw_where_the_index_is_given_comes_first():
    line = moving_line(Drawn(), lambda path: (), ["batch[0]"])
    assert line is not None
    assert (line.function, line.code) == ("Drawn.__getitem__", "place = random.randrange(4)")


def test_a_shuffle_in_another_method_but_not_that_of_the_constructor():
    line = moving_line(Shuffled.__new__(Shuffled), lambda path: (), ["batch[0]"])
    assert line is not None
    assert line.function == "Shuffled.begin"


def test_nothing_moves_rows():
    assert moving_line(Plain(), lambda path: (), ["batch[0]"]) is None
