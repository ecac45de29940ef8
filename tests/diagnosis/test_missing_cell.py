"""The cell of a table that a NaN of a stored record can be."""

from __future__ import annotations

import weakref

import pytest

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.diagnosis.missing_cell import with_cell
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.pipeline_birth import PipelineBirth

MADE = (Frame("/p/data.py", 23), Frame("/p/data.py", 28))


class Table:
    """A dataset that keeps the name of its file."""


@pytest.fixture
def batch(tmp_path):
    rows = "".join(f"{i},{i / 3:.2f}\n" for i in range(30))
    (tmp_path / "flow.csv").write_text("hour,flow\n" + rows + "30,nan\n")
    table = Table()
    table.file = str(tmp_path / "flow.csv")
    info = LoaderInfo(weakref.ref(table), "Table", 4, 0, "", data=weakref.ref(table))
    held = Batch(info, (0,), 0, 0.0, [], 1)
    yield held
    del table


def born(kind):
    return PipelineBirth(index=3, kind=kind, record_clean=False)


def test_of_a_record_that_was_stored_so(batch):
    found = with_cell(born("stored"), batch, MADE, ())
    assert (found.record.line, found.cell) == (32, "flow is 'nan'")


def test_nothing_where_a_line_made_it(batch):
    heard = [NumericWarning("invalid value encountered in divide", (MADE[0],))]
    assert with_cell(born("stored"), batch, MADE, heard) == born("stored")
    assert with_cell(born("divided"), batch, MADE, ()) == born("divided")
    assert with_cell(None, batch, MADE, ()) is None


def test_a_warning_of_another_line_says_nothing(batch):
    heard = [NumericWarning("invalid value encountered in divide", (Frame("/p/plot.py", 3),))]
    assert with_cell(born("stored"), batch, MADE, heard).record is not None
