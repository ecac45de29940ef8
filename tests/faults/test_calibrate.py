"""The confidence of verdicts is what was measured: the table agrees with the rows it names, and no held-out program is
among them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from debugtracer.trace.calibration import MOST, RANGES, TABLE, calibrated, frequencies
from tests.faults.scoring import healthy, part, row

calibrate, results, truths = part("calibrate"), part("results"), part("truths")
tomllib = pytest.importorskip("tomllib")  # Python 3.11


def said(status: str, right: bool, proved: bool = False, group: str = truths.LEARNT) -> dict[str, object]:
    return {"status": status, "proved": proved, "right": right, "group": group, "got": "log_domain"}


def test_laplaces_rule() -> None:
    assert (calibrate.laplace(0, 0), calibrate.laplace(8, 8), calibrate.laplace(3, 4)) == (0.5, 0.9, 0.667)


def test_verdicts_are_counted_by_status_and_proof() -> None:
    rows = [said("likely", True), said("likely", False), said("likely", True, proved=True), said("confirmed", True)]
    assert calibrate.cells(rows) == {
        "confirmed": {"right": 1, "of": 1},
        "likely": {"right": 1, "of": 2},
        "likely-proved": {"right": 1, "of": 1},
    }


def test_nothing_is_learnt_from_held_out_programs_cases_or_baselines(tmp_path: Path) -> None:
    one = row("a", got="zero_division")
    kept = {
        "full": {
            truths.PLANTED: [one, row("silent"), healthy("loud", quiet=False, got="zero_division")],
            truths.SHARED_CASES: [row("case", got="zero_division")],
            truths.LEARNT: [row("mlp_tabular/b", got="lr_too_high")],
            truths.HELD_OUT: [row("gan_points/c", got="zero_division")],
        },
        "no trials": {truths.PLANTED: [row("d", got="zero_division")]},
    }
    results.write(tmp_path / "r.json", kept, {"date": "2026-11-21"}, {})
    assert [(r["script"], r["right"]) for r in calibrate.learnt(tmp_path / "r.json")] == [
        ("a", True),
        ("loud", False),
        ("mlp_tabular/b", False),
    ]


def test_the_written_table_is_read_back() -> None:
    text = calibrate.text([said("likely", True, proved=True)] * 8, "benchmarks/results/x.json")
    assert tomllib.loads(text) == {"results": "benchmarks/results/x.json", "frequency": {"likely-proved": 0.9}}


def test_what_was_seen_on_planted_faults_and_on_programs_stands_beside_each_number() -> None:
    rows = [
        said("likely", True, group=truths.PLANTED),
        said("likely", True, group=truths.PLANTED),
        said("likely", False),
    ]
    assert "likely = 0.6  # planted faults 2 of 2, development programs 0 of 1" in calibrate.text(rows, "x.json")


def test_without_a_verdict_it_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["calibrate.py", str(tmp_path / "none.json")])
    assert calibrate.main() == 2
    assert "run it first" in capsys.readouterr().err


def test_the_table_agrees_with_the_results_it_names() -> None:
    table = tomllib.loads(TABLE.read_text())
    rows = json.loads((truths.ROOT / table["results"]).read_text())
    assert table["frequency"] == {name: calibrate.laplace(**cell) for name, cell in calibrate.cells(rows).items()}
    programs = {r["script"].removesuffix(" (healthy)").partition("/")[0] for r in rows}
    assert programs <= truths.DEVELOPMENT | {
        folder.name for folder in truths.FAULTS.iterdir() if folder.name != "programs"
    }


def test_a_verdict_says_what_was_measured_for_its_kind_within_the_range_of_its_word() -> None:
    for name, frequency in frequencies().items():
        status, *more = name.split("-")
        low, high = RANGES[status]
        assert calibrated(status, "proved" in more, 0.5, "loss_spike" if "course" in more else "log_domain") == min(
            max(frequency, low), high
        )


def test_a_kind_that_was_never_seen_keeps_its_belief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("debugtracer.trace.calibration.frequencies", dict)
    assert calibrated("likely", True, 0.8214, None) == 0.821
    assert calibrated("confirmed", False, 0.99, None) == MOST
