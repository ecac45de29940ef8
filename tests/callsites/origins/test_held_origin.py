"""The line that gave a variable its value, read from the running function."""

from __future__ import annotations

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.origins.held_origin import held_origin
from debugtracer.trace.birth import Frame


def asked(value: object) -> Frame | None:
    return held_origin(value, raw_frames(1))


def test_the_line_of_the_assignment_in_the_function_that_asks():
    kept = [object(), object()]
    taken = kept[1]
    other = kept[0]
    found = asked(taken)
    assert found is not None and found.code == "taken = kept[1]"
    assert other is not taken


def test_what_no_variable_holds_has_none():
    assert asked(object()) is None


def test_a_conversion_of_the_same_name_made_nothing():
    kept, moved = [object()], False
    taken = kept[0]
    if moved:
        taken = taken.cuda()
    found = asked(taken)
    assert found is not None and found.code == "taken = kept[0]"
