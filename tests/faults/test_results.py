"""Results are kept by script and variant: what is run again is replaced, the rest stays."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faults.scoring import healthy, part, row

results, truths = part("results"), part("truths")
LEARNT, PLANTED = truths.LEARNT, truths.PLANTED


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    kept = {
        "full": {PLANTED: [row(got="a", marks={"top1": False}), healthy()]},
        "no trials": {LEARNT: [row("p/a", also=["b"])]},
    }
    results.write(tmp_path / "deep" / "r.json", kept, {"date": "2026-11-21"}, {"a line": {"top1": [1, 2]}})
    assert results.read(tmp_path / "deep" / "r.json") == kept
    plain = json.loads((tmp_path / "deep" / "r.json").read_text())
    assert (plain["date"], plain["figures"]) == ("2026-11-21", {"a line": {"top1": [1, 2]}})


def test_no_file_holds_no_rows(tmp_path: Path) -> None:
    assert results.read(tmp_path / "none.json") == {}


def test_a_file_of_another_format_holds_no_rows(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"date": "2026-11-20", "rows": [{"group": "Cases"}], "summary": {}}')
    assert results.read(tmp_path / "old.json") == {}


def test_the_newest_rows_are_of_all_days_group_by_group(tmp_path: Path) -> None:
    full, guessed = {PLANTED: [row("x", got="a"), row("gone")], LEARNT: [row("p/z")]}, {PLANTED: [row("x")]}
    results.write(tmp_path / "2026-11-21-score.json", {"full": full, "no trials": guessed}, {}, {})
    results.write(tmp_path / "2026-11-22-score.json", {"full": {PLANTED: [row("x", got="b")]}}, {}, {})
    assert results.newest_rows(tmp_path) == {
        "full": {PLANTED: [row("x", got="b")], LEARNT: [row("p/z")]},
        "no trials": guessed,
    }


def test_a_row_kept_before_rows_had_a_commit_says_that_it_is_unknown(tmp_path: Path) -> None:
    results.write(tmp_path / "r.json", {"full": {PLANTED: [row("x")]}}, {}, {})
    whole = json.loads((tmp_path / "r.json").read_text())
    for entry in whole["rows"]:
        del entry["commit"], entry["date"]
    (tmp_path / "r.json").write_text(json.dumps(whole))
    (read,) = results.read(tmp_path / "r.json")["full"][PLANTED]
    assert (read.date, read.commit) == ("", "unknown")


def test_a_row_of_the_same_script_and_variant_is_replaced() -> None:
    old = {"full": {PLANTED: [row("x", got="a"), row("y", got="a")]}, "no trials": {PLANTED: [row("x", got="a")]}}
    whole = results.merged(old, {"full": {PLANTED: [row("x", got="b")], LEARNT: [row("p/z")]}})
    assert [(r.script, r.got) for r in whole["full"][PLANTED]] == [("x", "b"), ("y", "a")]
    assert [r.script for r in whole["full"][LEARNT]] == ["p/z"]
    assert whole["no trials"] == old["no trials"]
