"""Facts about the vocabulary of events.jsonl."""

import msgspec
import pytest

from debugtracer.trace.birth import Frame
from debugtracer.trace.events import VERSION, AnyEvent, Crashed, Noted, RankStarted


def test_an_event_comes_back_as_its_own_type() -> None:
    event = Crashed(at=1.0, error="ValueError", message="no", iteration=3, step=2, frames=(Frame("a.py", 1),))
    line = msgspec.json.encode(event)
    assert b'"type":"crashed"' in line
    assert msgspec.json.decode(line, type=AnyEvent) == event


def test_the_first_event_carries_the_format_version() -> None:
    assert msgspec.json.decode(msgspec.json.encode(RankStarted(at=0.0, pid=1)))["version"] == VERSION


def test_a_field_of_a_later_version_is_passed_over() -> None:
    event = msgspec.json.decode(b'{"type":"noted","at":1.0,"what":"loader","text":"x","new":1}', type=AnyEvent)
    assert event == Noted(at=1.0, what="loader", text="x")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"type":"party","at":1.0}', type=AnyEvent)
