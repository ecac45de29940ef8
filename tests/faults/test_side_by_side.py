"""The page of two versions' verdicts."""

from __future__ import annotations

from tests.faults.scoring import part

s = part("side_by_side")
SAID = {
    "class": "graph_freed",
    "status": "confirmed",
    "line": 9,
    "file": "main.py",
    "summary": "a | b",
    "code": "x | y",
}
ROW = {"program": "them/theirs", "wrong": "not detached", "file": "main.py", "lines": [7, 8]}


def kept(**now: object) -> dict[str, object]:
    row = {**ROW, "before": {"summary": "nothing"}, "now": {**SAID, **now}}
    return {"date": "2026-01-02", "before": "aaa", "commit": "bbb", "rows": [row]}


def test_a_line_of_the_fault_counts_in_its_file_only() -> None:
    assert "0 of 1 before and in 1 now" in s.page(kept(line=8))
    assert "0 of 1 before and in 0 now" in s.page(kept())
    assert "0 of 1 before and in 0 now" in s.page(kept(line=8, file="model.py"))


def test_both_sides_stand_in_the_table_and_bars_do_not_break_it() -> None:
    text = s.page(kept())
    assert "| before | none | none | nothing |" in text
    assert "| now | graph_freed, confirmed | main.py:9 `x \\| y` | a \\| b |" in text


def test_of_the_programs_one_line_is_kept_and_no_other(tmp_path) -> None:
    (tmp_path / "main.py").write_text("first = 1\n  second = 2\nthird = 3\n")
    verdict = {"class": None, "status": "unknown", "line": 2, "file": "main.py", "summary": "-", "remedy": ["no"]}
    told = s.shown(verdict, tmp_path)
    assert (told["code"], "remedy" in told) == ("second = 2", False)
    assert s.shown(None, tmp_path) == {"summary": "nothing"}


def test_the_page_is_what_the_newest_result_says() -> None:
    assert s.PAGE.read_text() == s.page(s.newest())
