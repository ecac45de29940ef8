"""The tables of the scoreboard say what the rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.scoring import healthy, part, row

b, tables, truths = part("board"), part("row_tables"), part("truths")
LEARNT, HELD_OUT = truths.LEARNT, truths.HELD_OUT


def rows():
    return [
        row(
            "p/a",
            marks={"found": True, "top1": True, "wrong": False},
            got="zero_division",
            status="confirmed",
            confidence=0.95,
            trials=4,
            verdict_s=2.0,
            tested=True,
        ),
        row(
            "p/b",
            marks={"found": True, "top1": False, "wrong": False},
            got="lr_too_high",
            confidence=0.75,
            trials=2,
            verdict_s=1.0,
        ),
        healthy("p (healthy)"),
    ]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def line_of(lines: list[str], name: str) -> dict[str, str]:
    found = next(line for line in lines if cells(line)[0] == name)
    return dict(zip(cells(lines[0]), cells(found), strict=True))


def test_the_table_has_a_row_per_fault_and_says_no_aloud() -> None:
    table = tables.table(
        [
            row(marks={"top1": True, "step": True, "op": False}, commit="551e86f"),
            row("b", symptom="silent", marks={"top1": False}),
            healthy("c"),
        ]
    )
    assert len(table) == 4
    assert table[2] == "| numerics/a | nan_loss | right | yes | **no** | - | - | - | - | - | 551e86f |"


def test_the_layers_are_counted() -> None:
    table = tables.layers(
        [
            row(marks={"found": True, "top1": True}),
            row("data/b", layer="data", marks={"found": True, "top1": False}),
            healthy("c"),
        ]
    )
    assert [cells(line)[:5] for line in table[2:]] == [
        ["data", "1", "1/1", "0/1", "-"],
        ["numerics", "1", "1/1", "1/1", "-"],
    ]


def test_every_group_and_every_baseline_has_its_own_line() -> None:
    table = b.found({"full": {LEARNT: rows(), HELD_OUT: rows()[1:]}, "no trials": {LEARNT: rows()[:2]}})
    names = [cells(line)[0] for line in table[2:]]
    assert names[:3] == [
        "Development programs",
        "- development programs, no trials",
        "Programs held out until 2026-11-27",
    ]
    assert names[3:] == [
        "- development programs, majority class `zero_division`",
        "- programs held out until 2026-11-27, majority class `zero_division`",
    ]
    first = line_of(table, "Development programs")
    assert (first["faults"], first["found"], first["top1"], first["step"], first["healthy quiet"]) == (
        "2",
        "2/2",
        "1/2",
        "-",
        "1/1",
    )


def test_a_verdict_is_told_with_its_time_its_trials_and_the_claim_of_the_first_article() -> None:
    table = b.reached({"full": {LEARNT: rows()}})
    told = line_of(table, "Development programs")
    assert told["top1"] == "50.0 %"
    assert told["seconds to verdict: median / p90 / max (n)"] == "1.0 / 2.0 / 2.0 (2)"
    assert told["trials: mean / max (n)"] == "3.0 / 4 (2)"
    assert (told["confirmed"], told["fix tested"], told["right when sure"]) == ("50.0 % (1/2)",) * 3
    assert told["calibration error"] == "0.400"  # two bins of one row: |0.95 - 1| and |0.75 - 0|
    assert line_of(table, "first article, its own claim")["top1"] == "86.3 %"


def test_every_line_says_when_and_at_which_commit_its_rows_were_measured() -> None:
    new, old = row("p/a", date="2026-11-22", commit="551e86f"), row("p/b", date="2026-11-21", commit="2efe947")
    full = {"full": {LEARNT: [new], HELD_OUT: [new, old, row("p/c")]}}
    for table in (b.found(full), b.reached(full)):
        assert line_of(table, "Development programs")["measured"] == "2026-11-22 at 551e86f"
        assert (
            line_of(table, "Programs held out until 2026-11-27")["measured"]
            == "date unknown, commit unknown; 2026-11-21 at 2efe947; 2026-11-22 at 551e86f"
        )
    assert (
        line_of(b.found(full), "- programs held out until 2026-11-27, majority class `zero_division`")["measured"]
        == "counted, not run"
    )
    assert b.group(LEARNT, [new])[0].endswith("Measured 2026-11-22 at 551e86f.")


def test_every_line_of_a_table_has_as_many_cells_as_its_head() -> None:
    full = {"full": {LEARNT: rows(), HELD_OUT: rows()}, "random trials": {HELD_OUT: rows()[:2]}}
    for table in (b.found(full), b.reached(full), b.calibration(full["full"])[2:]):
        assert len({len(cells(line)) for line in table}) == 1


def test_the_bins_stand_side_by_side() -> None:
    table = b.calibration({LEARNT: rows(), HELD_OUT: rows()[:1]})
    assert table[4:] == [
        "| 0.7 to 0.8 | 0.75 said, 0.00 right (1) | - |",
        "| 0.9 to 1.0 | 0.95 said, 1.00 right (1) | 0.95 said, 1.00 right (1) |",
    ]


def test_the_figures_are_plain_values() -> None:
    told = b.figures({"full": {LEARNT: rows()}})[f"{LEARNT}, full"]
    assert (told["top1"], told["confirmed but wrong"], told["calibration error"]) == ([1, 2], [0, 3], 0.4)
    assert told["seconds to verdict"] == {"verdicts": 2, "median": 1.0, "p90": 2.0, "max": 2.0}


def test_a_loud_healthy_script_is_named() -> None:
    assert (
        b.group(LEARNT, [healthy("p (healthy)", quiet=False), healthy("q (healthy)")])[-1]
        == "Healthy: 1 of 2 silent; not: p (healthy)."
    )


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("above\n<!-- score:begin -->\nold\n<!-- score:end -->\nbelow\n")
    assert tables.between(page, "score", "new")
    assert page.read_text() == "above\n<!-- score:begin -->\nnew\n<!-- score:end -->\nbelow\n"


@pytest.mark.parametrize("text", ["no marks at all\n", "<!-- score:begin -->\n"])
def test_a_page_without_marks_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "README.md"
    page.write_text(text)
    assert not tables.between(page, "score", "new")
    assert page.read_text() == text
