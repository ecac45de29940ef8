"""One stored number that the windows of many batches show."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.window_extreme import WindowExtreme
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LoaderNote
from debugtracer.trace.facts.repeated_extreme import RepeatedExtreme
from debugtracer.trace.step import StepRef
from tests.checks.facts_at import line, ref

RECORD = Frame("/p/plant.csv", 1875, "", "2021-03-20,21,-999.0")
HELD = (4, 11, 17, 21)


def fact(**fields):
    usual = {
        "ref": ref(21), "loader": LoaderNote(number=0, dataset="Plant", frame=line(30)), "path": "batch[1]",
        "column": 2, "value": -52.7, "low": -0.458, "high": 0.545, "rows": 5, "of": 704, "batches": 4, "looked": 22,
        "again": False, "handled": False, "samples": (1840, 1846, 1851, 1855, 1860), "made": (line(19),),
        "steps": HELD, "stored": "Plant.x", "row": 1873, "record": RECORD, "cell": "temp is -999",
    }  # fmt: skip
    return RepeatedExtreme(**(usual | fields))


def said(one, high=2.0, steps=24):
    judge, found = Judge({"data/window-extreme": WindowExtreme()}), []
    for step in range(steps):
        loss = high if step in HELD else 0.1
        news = [one] if step == one.ref.step else []
        found += judge.judge(StepRef(iteration=step, step=step), {"loss": loss}, news)
    return found


def test_the_row_and_the_line_of_the_file():
    (finding,) = said(fact())
    assert finding.message == (
        "step 21, rank 0: column 2 of batch[1] of Plant, made at train.py:19 is -52.7 in 5 samples (samples 1840, "
        "1846, 1851, 1855, 1860), where all others lie from -0.458 to 0.545: row 1873 of Plant.x (plant.csv:1875, temp "
        "is -999); the loss of 3 of 3 batches with it is up to 20 times that of their neighbours; expected measured "
        "values. Fill it where the file is read, before the column is scaled."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "data_range_extreme", RECORD)
    assert finding.place.sample_index == (1840, 1846, 1851, 1855, 1860)


def test_without_a_file_the_line_that_makes_the_array():
    (finding,) = said(fact(record=None, cell=""))
    assert ": row 1873 of Plant.x; the loss" in finding.message
    assert finding.place.frame == line(19)
    (finding,) = said(fact(record=None, cell="", stored="", row=None, made=()))
    assert finding.place.frame == line(30)


@pytest.mark.parametrize(
    "fields",
    [{"again": True}, {"handled": True}, {"samples": (1, 2, 3)}, {"steps": (4, 21)}, {"steps": (2, 8, 13, 21)}],
)
def test_it_stays_silent(fields):
    assert said(fact(**fields)) == []


def test_a_number_that_the_loss_does_not_notice():
    assert said(fact(), high=0.12) == []
