"""One line out of raw frames."""

from __future__ import annotations

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first, raised_at


def test_the_innermost_user_line():
    frame = first(raw_frames(1))
    assert frame is not None
    assert frame.code == "frame = first(raw_frames(1))"
    assert first(()) is None


def test_where_an_error_was_raised():
    def fails() -> None:
        raise ValueError("no")

    try:
        fails()
    except ValueError as error:
        frame = first(raised_at(error))
    assert frame is not None
    assert frame.code == 'raise ValueError("no")'
