"""One row that makes a loss."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.checks.data.outlier_sample import OutlierSample
from debugtracer.trace.facts.loss_rows import LossRows, RowLoss
from tests.checks.data.batches import a_window, at

ROWS = LossRows(
    ref=at(77),
    loss="MseLossBackward0",
    value=1.6e4,
    usual=0.004,
    rows=16,
    median=0.004,
    mad=0.003,
    raised=0.3,
    top_share=0.99,
    top=(RowLoss(row=8, sample=1240, loss=2.5e5),),
)


def test_a_row_with_nearly_all_of_the_loss_is_a_note_with_its_sample():
    (finding,) = OutlierSample().judge(a_window(ROWS))
    assert finding.message == (
        "step 77, rank 0: row 8 (sample 1240) has 99 % of a loss of 1.6e+04; the median row has 0.004; expected many "
        "rows to share it. Look at the sample."
    )
    assert (finding.severity, finding.place.sample_index, finding.place.batch_rows) == ("note", (1240,), (8,))


@pytest.mark.parametrize(
    "change",
    [{"top_share": 0.5}, {"mad": 1e5}, {"rows": 2}, {"top": ()}],
    ids=["shared", "a wide batch", "two rows", "unknown"],
)
def test_a_loss_that_rows_share_is_silent(change):
    assert not list(OutlierSample().judge(a_window(msgspec.structs.replace(ROWS, **change))))


@pytest.mark.parametrize(("value", "count"), [(0.252, 0), (0.253, 1)])
def test_of_a_loss_near_0_one_row_always_has_most(value, count):
    """The first losses were 1, and 99 % of 16 rows' mean of 0.252 is a row that has less than 4."""
    rows = msgspec.structs.replace(ROWS, value=value, first=1.0, usual=0.1)
    assert len(list(OutlierSample().judge(a_window(rows)))) == count


@pytest.mark.parametrize(("usual", "value", "count"), [(0.04, 0.9, 0), (0.06, 0.9, 1), (0.04, 1.1, 1)])
def test_of_a_loss_that_has_converged_a_row_is_told_where_it_costs_more_than_all_did_at_first(usual, value, count):
    rows = msgspec.structs.replace(ROWS, value=value, first=1.0, usual=usual)
    assert len(list(OutlierSample().judge(a_window(rows)))) == count


@pytest.mark.parametrize(("loss", "count"), [(2.5e5, 1), (4.9e5, 1), (5.1e5, 2)])
def test_a_later_row_is_told_when_it_is_twice_as_far_out_as_all_before(loss, count):
    """Data with heavy tails has such rows all the time."""
    memories, told = {}, []
    for step, height in ((77, 2.5e5), (300, loss)):
        fact = msgspec.structs.replace(ROWS, ref=at(step), top=(RowLoss(row=8, sample=1240, loss=height),))
        told += OutlierSample().judge(a_window(fact, memories=memories))
    assert len(told) == count


def test_a_later_row_with_a_smaller_loss_is_none_though_the_median_has_fallen():
    """As a model learns, the median goes to 0 and every hard row is ever so many medians away."""
    memories, told = {}, []
    for step, height, median in ((77, 2.5e5, 4e-3), (300, 2.4e5, 4e-6)):
        fact = msgspec.structs.replace(
            ROWS, ref=at(step), median=median, top=(RowLoss(row=8, sample=1240, loss=height),)
        )
        told += OutlierSample().judge(a_window(fact, memories=memories))
    assert [finding.step for finding in told] == [77]
