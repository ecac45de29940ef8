"""The frames of the program that an exception came through."""

from __future__ import annotations

import json

from debugtracer.callsites.raising_frames import raising_frames


def parsed(text: str) -> object:
    return json.loads(text)


def test_frames_of_libraries_are_left_out_and_the_outermost_comes_first():
    try:
        parsed("{")
    except ValueError as error:
        found = raising_frames(error)
    names = [frame.f_code.co_name for frame, _ in found]
    assert names == ["test_frames_of_libraries_are_left_out_and_the_outermost_comes_first", "parsed"]
    assert found[1][1] == parsed.__code__.co_firstlineno + 1
