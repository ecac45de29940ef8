"""Events, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import TraceError
from debugtracer.testing import a_finding
from debugtracer.trace.events import Acted, AnyEvent, Found, Noted, Observed, RankEnded, RankStarted
from debugtracer.trace.store.journal import Journal, encode_event, read_events, read_facts

EVENTS: list[AnyEvent] = [
    RankStarted(at=1.0, pid=4, world_size=2),
    Noted(at=1.5, what="loader", text='a "quoted"\nline'),
    Found(at=2.0, trace_id="run-0-3", finding=a_finding()),
    Acted(at=2.5, action="stop", iteration=3, step=3, reason="nan"),
    RankEnded(at=3.0, steps=4, iterations=4),
]


def written(folder: Path, events: list[AnyEvent]) -> Path:
    journal = Journal(folder)
    for event in events:
        journal.append(encode_event(event))
    journal.close()
    return journal.path


def test_every_event_comes_back_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path, EVENTS)
    assert read_events(tmp_path) == (EVENTS, [])
    assert path.read_bytes().count(b"\n") == len(EVENTS)


def test_a_torn_last_line_is_skipped_wherever_it_is_torn(tmp_path: Path) -> None:
    path = written(tmp_path, EVENTS[:2])
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for end in range(first, len(data) - 1):
        path.write_bytes(data[:end])
        assert read_events(tmp_path) == (EVENTS[:1], [])


def test_a_new_writer_ends_a_torn_line_first(tmp_path: Path) -> None:
    path = written(tmp_path, EVENTS[:2])
    path.write_bytes(path.read_bytes()[:-9])
    written(tmp_path, EVENTS[2:])
    events, problems = read_events(tmp_path)
    assert events == [EVENTS[0], *EVENTS[2:]]
    assert len(problems) == 1
    assert problems[0].startswith(f"{path}, line 2: ")


def test_an_event_of_a_type_we_do_not_know_is_skipped_and_said(tmp_path: Path) -> None:
    path = written(tmp_path, EVENTS[:1])
    path.write_bytes(path.read_bytes() + b'{"type":"of-the-future","at":1.0}\n')
    events, problems = read_events(tmp_path)
    assert events == EVENTS[:1]
    assert problems == [f"{path}, line 2: Invalid value 'of-the-future' - at `$.type`; this line is skipped."]


def test_a_file_without_any_event_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"\x00\xff\x00\n" * 5)
    with pytest.raises(
        TraceError,
        match=r"events\.jsonl holds no readable event \(.*line 1: .*\) - it is damaged, or of a newer debug-tracer\.",
    ):
        read_events(tmp_path)


def test_no_file_means_no_events_yet(tmp_path: Path) -> None:
    assert read_events(tmp_path) == ([], [])


def test_an_events_file_that_is_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").mkdir()
    with pytest.raises(TraceError, match=r"events\.jsonl cannot be read \(Is a directory\); check that it is a file"):
        read_events(tmp_path)


def test_the_facts_of_one_word_are_found_among_all_lines(tmp_path: Path) -> None:
    marks = [Observed(at=4.0, word="a/Mark", fact={"n": n}) for n in (1, 2)]
    other = Observed(at=4.5, word="a/MarkOfAnother", fact={"n": 3})
    path = written(tmp_path, [*EVENTS, marks[0], other, marks[1]])
    path.write_bytes(path.read_bytes() + b'{"type":"observed","word":"a/Mark","fact":{to\n')
    assert list(read_facts(tmp_path, "a/Mark")) == marks
