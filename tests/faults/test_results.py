"""Results are kept by script and variant: what is run again is replaced, the rest stays."""

from __future__ import annotations

import json
from pathlib import Path

from tests.faults.scoring import healthy, part, row

results, truths = part("results"), part("truths")
LEARNT, PLANTED = truths.LEARNT, truths.PLANTED


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    kept = {"full": {PLANTED: [row(got="a", marks={"top1": False}), healthy()]}, "no trials": {LEARNT: [row("p/a", also=["b"])]}}
    results.write(tmp_path / "deep" / "r.json", kept, {"date": "2026-11-21"}, {"a line": {"top1": [1, 2]}})
    assert results.read(tmp_path / "deep" / "r.json") == kept
    plain = json.loads((tmp_path / "deep" / "r.json").read_text())
    assert (plain["date"], plain["figures"]) == ("2026-11-21", {"a line": {"top1": [1, 2]}})


def test_no_file_holds_no_rows(tmp_path: Path) -> None:
    assert results.read(tmp_path / "none.json") == {}


def test_a_file_of_another_format_holds_no_rows(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text('{"date": "2026-11-20", "rows": [{"group": "Cases"}], "summary": {}}')
    assert results.read(tmp_path / "old.json") == {}


def test_a_row_of_the_same_script_and_variant_is_replaced() -> None:
    old = {"full": {PLANTED: [row("x", got="a"), row("y", got="a")]}, "no trials": {PLANTED: [row("x", got="a")]}}
    whole = results.merged(old, {"full": {PLANTED: [row("x", got="b")], LEARNT: [row("p/z")]}})
    assert [(r.script, r.got) for r in whole["full"][PLANTED]] == [("x", "b"), ("y", "a")]
    assert [r.script for r in whole["full"][LEARNT]] == ["p/z"]
    assert whole["no trials"] == old["no trials"]
