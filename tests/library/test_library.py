"""What was cured once is found again; several writers and a torn line do no harm."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.errors import UsageError
from debugtracer.library.library import NAME, entry_of, library_of, read_library, remember, seen_before
from debugtracer.testing import a_masked_row

DAY = 86_400.0
FACTS = a_masked_row()
VERDICT = rank(FACTS)


def entry(run: str, day: int, fix: str = "one key is left unmasked"):
    return entry_of(FACTS, VERDICT, run=run, at=1_763_000_000.0 + day * DAY, fix=fix)


def test_a_recurrence_names_the_run_the_day_and_the_cure(tmp_path):
    file = tmp_path / NAME
    assert seen_before(FACTS, VERDICT, file) is None
    remember(file, entry("first", 0))
    assert seen_before(FACTS, VERDICT, file) == "seen in run first on 2025-11-13, cured by: one key is left unmasked"
    remember(file, entry("second", 2, "torch.where(any_key, att, 0)"))
    assert (
        seen_before(FACTS, VERDICT, file)
        == "seen in run second on 2025-11-15 (and in 1 more run), cured by: torch.where(any_key, att, 0)"
    )


def test_a_run_is_no_recurrence_of_itself(tmp_path):
    remember(tmp_path / NAME, entry("mine", 0))
    assert seen_before(FACTS, VERDICT, tmp_path / NAME, run="mine") is None


def test_a_damaged_line_is_skipped_and_told_and_the_next_entry_is_whole(tmp_path):
    file = tmp_path / NAME
    remember(file, entry("a", 0))
    with file.open("ab") as torn:
        torn.write(b'{"version":1,"fingerp')
    remember(file, entry("b", 1))
    library = read_library(file)
    assert [one.run for one in library.entries] == ["a", "b"]
    assert len(library.problems) == 1
    assert "line 2" in library.problems[0] and library.problems[0].endswith("this line is skipped")
    assert str(seen_before(FACTS, VERDICT, file)).endswith("; 1 damaged line of the library skipped")


def write(file: Path, writer: int) -> None:
    for number in range(40):
        remember(file, entry(f"{writer}-{number}", 0, "x" * 3000))


def test_several_writers_lose_and_mix_nothing(tmp_path):
    file = tmp_path / NAME
    writers = [multiprocessing.get_context("fork").Process(target=write, args=(file, number)) for number in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    library = read_library(file)
    assert library.problems == ()
    assert {one.run for one in library.entries} == {f"{writer}-{number}" for writer in range(4) for number in range(40)}


def test_the_file_lies_beside_the_folder_of_runs_or_where_the_team_says(tmp_path):
    run = tmp_path / "project" / "debug-tracer-runs" / "run-1"
    assert library_of(run) == tmp_path / "project" / NAME
    assert library_of(run, tmp_path) == tmp_path / NAME
    assert library_of(run, tmp_path / "team.jsonl") == tmp_path / "team.jsonl"


def test_what_cannot_be_written_or_read_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be written"):
        remember(tmp_path / "file" / NAME, entry("a", 0))
    assert "cannot be read" in str(seen_before(FACTS, VERDICT, tmp_path))
