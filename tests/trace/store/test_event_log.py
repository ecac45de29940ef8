"""Events are decoded once, in the order they were written, whatever the writer left in the middle."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.events import Noted
from debugtracer.trace.store.event_log import EventLog
from debugtracer.trace.store.journal import encode_event, read_events
from debugtracer.trace.store.schema import EVENTS


def line(text: str) -> bytes:
    return encode_event(Noted(at=1.0, rank=0, what="test", text=text)) + b"\n"


def texts(log: EventLog) -> list[str]:
    return [event.text for event in log.read()[0] if isinstance(event, Noted)]


def test_a_torn_line_waits_for_its_end(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    assert log.read() == ([], [])
    file = tmp_path / EVENTS
    whole = line("a") + line("b")
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        assert log.read()[1] == []
        assert texts(EventLog(tmp_path)) == texts(log) == ["a", "b"][: whole[:cut].count(b"\n")]


def test_what_was_read_is_not_decoded_again_and_is_what_read_events_says(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / EVENTS).write_bytes(line("a") + b"{broken}\n" + line("b"))
    log = EventLog(tmp_path)
    assert log.read() == read_events(tmp_path)
    with (tmp_path / EVENTS).open("ab") as file:
        file.write(b"\n" + line("c") + b"[]\n")
    assert log.read() == read_events(tmp_path)
    monkeypatch.setattr("debugtracer.trace.store.event_log.decode_event", None)
    assert texts(log) == ["a", "b", "c"]


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    file = tmp_path / EVENTS
    file.write_bytes(line("a") + line("b"))
    log = EventLog(tmp_path)
    assert texts(log) == ["a", "b"]
    (tmp_path / "new").write_bytes(line("another"))
    (tmp_path / "new").replace(file)
    assert texts(log) == ["another"]
    file.unlink()
    assert texts(log) == []


def test_a_file_without_one_readable_event_is_an_error(tmp_path: Path) -> None:
    (tmp_path / EVENTS).write_bytes(b"{broken}\n")
    with pytest.raises(TraceError, match="holds no readable event"):
        EventLog(tmp_path).read()
