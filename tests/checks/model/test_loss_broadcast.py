"""Do prediction and target have the same shape?"""

from __future__ import annotations

from debugtracer.checks.model.loss_broadcast import LossBroadcast, stretched
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.facts_at import judged, line, ref


def call(**fields: object) -> LossCall:
    return LossCall(ref=ref(), loss="mse_loss", frame=line(20), input_shape=(32, 1), target_shape=(32,), **fields)  # type: ignore[arg-type]


def test_a_column_against_a_row_is_told_once():
    (finding,) = judged(LossBroadcast(), [call(broadcast=True), call(broadcast=True)])
    assert finding.message == (
        "step 0, rank 0: mse_loss compares a prediction of shape (32, 1) with targets of shape (32,): broadcasting "
        "makes (32, 32) pairs; "
        "expected equal shapes. Squeeze the prediction or unsqueeze the target."
    )
    assert (finding.kind, finding.exact, finding.place.frame.line) == ("loss_misuse", True, 20)


def test_a_column_of_weights_says_what_becomes_of_them():
    column = LossCall(
        ref=ref(), loss="mul", frame=line(20), input_shape=(32,), target_shape=(32, 1), broadcast=True,
        target_is_batch=True,
    )  # fmt: skip
    (finding,) = judged(LossBroadcast(), [column])
    assert finding.message == (
        "step 0, rank 0: a product multiplies values of shape (32,) with values of the batch of shape (32, 1): "
        "broadcasting makes (32, 32) products, so each row meets the values of all rows; expected equal shapes. "
        "Squeeze the column."
    )
    assert (finding.place.op, finding.place.frame.line) == ("aten::mul", 20)


def test_a_quotient_of_values_that_are_not_of_the_batch():
    column = LossCall(ref=ref(), loss="div", frame=line(20), input_shape=(32,), target_shape=(32, 1), broadcast=True)
    (finding,) = judged(LossBroadcast(), [column])
    assert (
        "a quotient takes values of shape (32,) and values of shape (32, 1): broadcasting makes (32, 32) quotients, "
        in finding.message
    )
    assert finding.place.op == "aten::div"


def test_equal_shapes_and_an_explicit_unsqueeze_are_silent():
    assert not judged(LossBroadcast(), [call(), call(broadcast=True, explicit=True)])


def test_shapes_are_stretched_as_torch_does():
    assert stretched((32, 1), (32,)) == (32, 32)
    assert stretched((4, 1, 3), (5, 1)) == (4, 5, 3)


def test_a_column_against_a_square_says_which_side_was_stretched_before():
    square = LossCall(
        ref=ref(), loss="mse_loss", frame=line(20), input_shape=(32, 1), target_shape=(32, 32), broadcast=True
    )
    (finding,) = judged(LossBroadcast(), [square])
    assert finding.message == (
        "step 0, rank 0: mse_loss compares a prediction of shape (32, 1) with targets of shape (32, 32): the targets "
        "already hold a value for every pair of the batch; expected equal shapes. Look for (B, 1) against (B,) in what "
        "makes the targets."
    )
    assert (finding.evidence["repeated"], finding.exact) == (1, False)


def test_answers_of_an_evaluation_that_are_counted_in_pairs():
    counted = LossCall(
        ref=ref(50), loss="eq", frame=line(20), input_shape=(64, 1), target_shape=(64,), input_grad=False,
        broadcast=True,
    )  # fmt: skip
    (finding,) = judged(LossBroadcast(), [counted])
    assert finding.message == (
        "step 50, rank 0: an evaluation compares (64, 1) with (64,): broadcasting makes 4096 pairs of 64 answers, and "
        "what is counted is no share of right answers; expected equal shapes. Squeeze the column."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "loss_misuse", line(20))


def test_errors_of_an_evaluation_that_are_those_of_pairs():
    off = LossCall(
        ref=ref(50), loss="sub", frame=line(20), input_shape=(64, 1), target_shape=(64,), input_grad=False,
        target_is_batch=True, broadcast=True,
    )  # fmt: skip
    (finding,) = judged(LossBroadcast(), [off])
    assert finding.message == (
        "step 50, rank 0: an evaluation takes the difference of (64, 1) and (64,): broadcasting makes 4096 pairs of 64 "
        "answers, and what is counted is no error of answers; expected equal shapes. Squeeze the column."
    )
    assert (finding.severity, finding.exact) == ("warning", False)
