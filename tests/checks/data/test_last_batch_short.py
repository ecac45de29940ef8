"""A batch that is shorter than those before it, and a program that dies of it."""

from __future__ import annotations

from debugtracer.checks.data.last_batch_short import LastBatchShort
from debugtracer.checks.model.shape_mismatch import ShapeMismatch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import ShortBatchSeen
from debugtracer.trace.facts.raised_expression import SqueezedBatch
from tests.checks.crashes import LINE, LOADER, a_batch, a_crash, silent_on_another_error, told
from tests.checks.facts_at import judged, ref

TEXT = "The size of tensor a (80) must match the size of tensor b (128) at non-singleton dimension 0"
USES = Frame("/p/loss.py", 22, "loss", "labels = torch.arange(size)")
BATCH = a_batch(40, dataset_len=1000, batch_size=64)


def test_the_loader_is_the_line_and_the_one_that_uses_the_usual_length_is_told():
    short = ShortBatchSeen(rows=40, usual=64, frame=USES)
    (finding,) = told(LastBatchShort(), a_crash(TEXT, batch=BATCH, short=short))
    assert finding.message == (
        "step 5, rank 0: the batch has 40 rows, all before it had 64 (the loader (train.py:27) makes batches of 64 out "
        "of 1000 samples); expected a program that takes any length: loss.py:22 uses 64. Pass drop_last=True to that "
        "loader, or take the length from the tensor at loss.py:22."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (LOADER, USES)
    assert (finding.exact, finding.kind, finding.remedy) == (False, "data_short_batch", LastBatchShort.remedies)


def test_in_evaluation_no_sample_may_be_left_out():
    short = ShortBatchSeen(rows=40, usual=64, frame=USES, evaluating=True)
    (finding,) = told(LastBatchShort(), a_crash(TEXT, batch=BATCH, short=short))
    assert finding.message.endswith("loss.py:22 uses 64. Take the length from the tensor at loss.py:22.")
    assert (finding.place.frame, finding.remedy) == (USES, LastBatchShort.remedies[1:])
    (unknown,) = told(
        LastBatchShort(), a_crash(TEXT, batch=BATCH, short=ShortBatchSeen(rows=40, usual=64, evaluating=True))
    )
    assert unknown.message.endswith("any length. Take every length from the tensors.")
    assert unknown.place.frame == LOADER


def test_a_squeeze_that_drops_the_batch_is_the_line():
    short = ShortBatchSeen(rows=1, usual=64, frame=USES, squeezed=True)
    (finding,) = told(LastBatchShort(), a_crash(TEXT, batch=BATCH, short=short))
    assert "the batch has 1 row, all" in finding.message
    assert finding.message.endswith(
        "loss.py:22 takes away every dimension of length 1, here that of the batch too. Name the dimension at "
        "loss.py:22, as in squeeze(-1), or pass drop_last=True to that loader."
    )
    assert finding.place.frame == USES
    assert finding.remedy == (
        "Name the dimension at loss.py:22, as in squeeze(-1), or pass drop_last=True to that loader.",
    )


def test_without_a_line_or_a_loader_the_call_is_named():
    (finding,) = told(LastBatchShort(), a_crash(TEXT, short=ShortBatchSeen(rows=40, usual=64)))
    assert finding.message.endswith("any length. Pass drop_last=True to that loader.")
    assert finding.place.frame == LINE


def test_the_shapes_alone_are_not_told_beside_it():
    crash = a_crash(TEXT, batch=BATCH, short=ShortBatchSeen(rows=40, usual=64))
    assert told(ShapeMismatch(), crash) == []
    assert len(told(ShapeMismatch(), a_crash(TEXT, batch=BATCH))) == 1


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(LastBatchShort())


def test_a_dimension_that_squeeze_took_away_is_told_before_the_length_of_the_batch():
    lost = SqueezedBatch(ref=ref(5), name="scores", given=(1, 6, 1), usual=(64, 6, 1), lost=0, frame=USES, symptom=LINE)
    (finding,) = judged(LastBatchShort(), [lost], ended=True)
    assert finding.message == (
        "step 5, rank 0: `scores` has lost dimension 0: loss.py:22 takes away every dimension of length 1, of shape "
        "(1, 6, 1) too, where other steps had (64, 6, 1); expected the same dimensions for each batch. Write "
        "squeeze(2) at loss.py:22."
    )
    assert (finding.place.frame, finding.place.symptom_frame) == (USES, LINE)
    crash = a_crash(TEXT, batch=BATCH, short=ShortBatchSeen(rows=1, usual=64, squeezed=True))
    assert len(told(LastBatchShort(), crash, lost)) == 1


def test_where_nothing_is_left_to_squeeze_it_is_left_out():
    lost = SqueezedBatch(ref=ref(5), name="x", given=(1, 6), usual=(64, 6), lost=0, frame=USES, symptom=LINE)
    (finding,) = judged(LastBatchShort(), [lost], ended=True)
    assert finding.message.endswith("Leave squeeze out at loss.py:22.")
