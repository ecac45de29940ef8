"""Which element of a list the loops around a failing expression were at."""

from __future__ import annotations

from debugtracer.callsites.element_in_hand import ElementInHand, element_in_hand
from tests.callsites.test_failing_expression import failed

LINES = [[f"a{i}", f"b{i}"] for i in range(6)]
IDS = {f"{k}{i}": i for i in range(5) for k in "ab"}


def hand(program):
    return element_in_hand(failed(program))


def test_the_outermost_loop_of_a_comprehension_counted_in_the_whole_list():
    def program():
        begin = 4
        return [[IDS[word] for word in line] for line in LINES[begin : begin + 2]]

    assert hand(program) == ElementInHand("LINES", 5, 6)


def test_the_innermost_for_also_through_enumerate_zip_and_a_bar_of_progress():
    def bar(items):
        return items

    def enumerated():
        for place, line in enumerate(LINES):
            assert place >= 0
            IDS[line[0]]

    def zipped():
        for line, weight in zip(LINES, range(6), strict=True):
            assert weight >= 0
            IDS[line[0]]

    def shown():
        for _ in (1, 2):
            for line in bar(LINES):
                IDS[line[0]]

    assert {hand(one) for one in (enumerated, zipped, shown)} == {ElementInHand("LINES", 5, 6)}


def test_none_where_it_is_no_one_object_of_a_list():
    def same_twice():
        rows = [LINES[5], LINES[5]]
        for row in rows:
            IDS[row[0]]

    def drawn():
        for row in iter(LINES):
            IDS[row[0]]

    def alone():
        return IDS["zz"]

    assert [hand(one) for one in (same_twice, drawn, alone)] == [None, None, None]
