"""A run folder and a capsule that an older version wrote are read as they were: same reports, same verdict on a second
judgement, same birth in a replay.

python -m tests.test_stored_runs --write   renews what is expected, never the run folders (tests/stored_runs/README.md)
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from debugtracer.commands.replay import replay
from debugtracer.commands.report import report
from debugtracer.errors import DebugTracerError
from debugtracer.trace.events import ActionEffect, AnyEvent, Incident, Observed
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.store.journal import decode_event, encode_event
from tests.same_words import assert_same

HERE = Path(__file__).with_name("stored_runs")
RUNS = sorted(folder.parent for folder in HERE.glob("*/run"))
VIEWS = ("report.json", "report.txt", "report.md")
COMPUTED = ("recheck.json", "replay.json")
# of the replay: what the processor and the version of torch decide
MEASURED = ("seconds", "parity", "targets", "precision", "as_recorded")
LINES = [line for path in sorted(HERE.glob("**/*.jsonl")) for line in path.read_text().splitlines()]
FACTS = [json.loads(line) for line in (HERE / "facts.jsonl").read_text().splitlines() if '"observed"' in line]


def said(command: Any, *words: str) -> str:
    """What a command writes to stdout, or the sentence with which it refuses."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, words)
    if isinstance(result.exception, DebugTracerError):
        return str(result.exception).replace(os.path.realpath("."), ".") + "\n"
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


def replays(run: Path) -> bool:
    """Whether the run holds a capsule."""
    return any(run.glob("incidents/*/capsule.json"))


def answers() -> dict[str, str]:
    """What the code of today says of `run` in the working folder."""
    said(report, "run", "--format", "json,terminal,markdown", "-o", ".")
    found = {name: Path(name).read_text() for name in VIEWS}
    found |= {f"{option}.txt": said(report, "run", f"--{option}") for option in ("layers", "seeds")}
    found["recheck.json"] = said(report, "run", "--recheck", "--format", "json")
    if replays(Path("run")):
        found["batch.txt"] = said(report, "run", "--batch")
        told = json.loads(said(replay, "run", "--json"))
        found["replay.json"] = (
            json.dumps({name: value for name, value in told.items() if name not in MEASURED}, indent=1) + "\n"
        )
    return found


@contextlib.contextmanager
def copied(folder: Path) -> Iterator[None]:
    """Work beside a copy of its run folder."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder / "run", Path(place) / "run")
        before = os.getcwd()
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(before)


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_a_stored_run_reads_the_same(folder: Path) -> None:
    with copied(folder):
        now = answers()
    assert sorted(now) == sorted(path.name for path in folder.iterdir() if path.is_file())
    for name, text in now.items():
        want = (folder / name).read_text()
        if name not in COMPUTED:
            assert text == want, f"{folder.name}/{name}; meant? python -m tests.test_stored_runs --write"
        else:
            assert_same(
                json.loads(want),
                json.loads(text),
                f"{folder.name}/{name}; meant? python -m tests.test_stored_runs --write",
            )


def test_they_hold_every_type_of_event_and_an_incident_that_replays() -> None:
    events = [decode_event(line) for line in LINES]
    later = {ActionEffect}  # than these runs
    assert {type(event) for event in events} == set(AnyEvent.__args__) - later
    assert [
        event.verdict.status for event in events if isinstance(event, Incident) and event.capsule and event.verdict
    ] == ["confirmed", "confirmed"]
    assert {event.rank for event in events} == {0, 1}


@pytest.mark.parametrize("line", FACTS, ids=lambda line: line["word"])
def test_a_stored_fact_is_written_again_with_the_same_words(line: dict[str, Any]) -> None:
    fact = from_plain(line["word"], line["fact"])
    assert fact is not None, f"{line['word']}: no kind of fact has this word any more; run folders of users hold it"
    assert fact.word() == line["word"]
    assert_same(line["fact"], json.loads(json.dumps(to_plain(fact))), rel=0, absolute=0, more=True)


def test_every_stored_event_is_written_again_with_the_same_words() -> None:
    for line in LINES:
        event = decode_event(line)
        assert_same(json.loads(line), json.loads(encode_event(event)), line[:200], rel=0, absolute=0, more=True)
        if isinstance(event, Observed):
            assert from_plain(event.word, event.fact) is not None, event.word


def write() -> None:
    """Keep what the code of today says."""
    for folder in RUNS:
        with copied(folder):
            found = answers()
        for name, text in found.items():
            (folder / name).write_text(text)
        print(f"wrote {', '.join(found)} of {folder.name}")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"{__doc__}")
    write()
