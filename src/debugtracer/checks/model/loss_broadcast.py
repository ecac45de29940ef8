"""Do prediction and target have the same shape, or are they stretched against each other?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loss_call import COMPARISONS, LossCall
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LossBroadcast(Check, frozen=True):
    """The loss compares every prediction with every target.

    What it catches
        Predictions of shape (B, 1) against targets of shape (B,): broadcasting makes a (B, B) matrix of differences.
        Weights, advantages or precisions of shape (B, 1) times values of shape (B,): each row gets the mean of all.
    Why it matters
        The best answer to that loss is the mean of the targets for every sample. Training runs and learns nothing else.
    How it decides
        Two tensors of different rank broadcast to more elements than either has, in mse_loss, l1_loss, smooth_l1_loss,
        huber_loss, or in a difference of a prediction and a tensor of the batch, or of a prediction of (B, 1) and B
        stored values (a rollout, a replay buffer), or in a product of B values and a (B, 1) of the batch (weights of
        the samples). Equal ranks, and a dimension made by unsqueeze, are on purpose. Or (B, 1) is compared with (B, B):
        one of the two was stretched before. Or the (B, B) of a product, a quotient or a squared difference is only
        added up to the loss, without a mask, a softmax or a kernel: it is the product of two means then, and no pair
        has a meaning of its own. In an evaluation `==` of (B, 1), no view, and B values of another tensor, or the
        difference of one and B values of a batch.
    What to do
        Bring both to one shape: `prediction.squeeze(-1)` or `target.unsqueeze(-1)`.
    Example
        step 0, rank 0: mse_loss compares a prediction of shape (32, 1) with targets of shape (32,): broadcasting makes
        (32, 32) pairs; expected equal shapes. Squeeze the prediction or unsqueeze the target.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "squeeze the prediction: prediction.squeeze(-1)",
        "or give the target the shape of the prediction: target.unsqueeze(-1)",
    )
    proved_by: ClassVar[str] = "model/column_prediction"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per line."""
        for call in window.new(LossCall):
            memory = window.memory(self)
            if call.broadcast and not call.explicit and call.key() not in memory:
                memory[call.key()] = True
                yield self.describe(window, call)

    def describe(self, window: Window, call: LossCall) -> Finding:
        """Build the finding with both shapes and what they become."""
        if call.loss in COMPARISONS or (call.loss == "sub" and not call.input_grad):
            return self.compared(window, call)
        name = "a difference" if call.loss == "sub" else call.loss
        whole = stretched(call.input_shape, call.target_shape)
        if call.loss in ("mul", "div"):
            return self.weighted(window, call, whole)
        if len(call.input_shape) == len(call.target_shape):
            return self.repeated(window, call, name)
        return self.finding(
            window,
            "error",
            f"{name} compares a prediction of shape {call.input_shape} with targets of shape {call.target_shape}: "
            f"broadcasting makes {whole} pairs; "
            f"expected equal shapes. {stored(call) or 'Squeeze the prediction or unsqueeze the target.'}",
            ref=call.ref,
            place=whereabouts(call),
            exact=None if call.loss != "sub" or call.target_is_batch else False,  # stored values may be anything
        )

    def weighted(self, window: Window, call: LossCall, whole: tuple[int, ...]) -> Finding:
        """Build the finding of a column of weights times values of the rows."""
        times = "a product multiplies", "with", "products"
        what, by, many = times if call.loss == "mul" else ("a quotient takes", "and", "quotients")
        column = "weight" if call.target_is_batch else "column"
        return self.finding(
            window,
            "error",
            f"{what} values of shape {call.input_shape} {by} values {'of the batch ' * call.target_is_batch}of shape "
            f"{call.target_shape}: broadcasting makes {whole} {many}, so each row meets the values of all rows; "
            "expected equal shapes. Squeeze the column.",
            ref=call.ref,
            place=Place(module=call.module or None, op=OPS[call.loss], frame=call.frame),
            remedies=(
                f"squeeze the column: {column}.squeeze(-1)",
                "or let the dataset hand out a number, no row of one",
            ),
        )

    def compared(self, window: Window, call: LossCall) -> Finding:
        """Build the finding of answers that are counted in pairs, in an evaluation."""
        rows = call.input_shape[0]
        does, what = ("compares", "with"), "share of right answers"
        if call.loss not in COMPARISONS:
            does, what = ("takes the difference of", "and"), "error of answers"
        return self.finding(
            window,
            "warning",
            f"an evaluation {does[0]} {call.input_shape} {does[1]} {call.target_shape}: broadcasting makes "
            f"{rows * rows} pairs of {rows} answers, and what is counted is no {what}; expected equal shapes. "
            "Squeeze the column.",
            ref=call.ref,
            place=Place(frame=call.frame),
            remedies=(
                "leave out keepdim=True, or squeeze the column: answer.squeeze(-1)",
                "or give the labels the same shape: labels.unsqueeze(-1)",
            ),
            exact=False,
            confidence=0.85,
        )

    def repeated(self, window: Window, call: LossCall, name: str) -> Finding:
        """Build the finding of (B, 1) against (B, B), where the stretching lies before the loss."""
        square = "the targets" if call.target_shape[-1] > 1 else "the prediction"
        return self.finding(
            window,
            "error",
            f"{name} compares a prediction of shape {call.input_shape} with targets of shape {call.target_shape}: "
            f"{square} already hold a value for every pair of the batch; expected equal shapes. "
            f"{stored(call) or f'Look for (B, 1) against (B,) in what makes {square}.'}",
            ref=call.ref,
            place=whereabouts(call),
            remedies=(f"give all terms of {square} one shape: value.unsqueeze(-1) or value.squeeze(-1)",),
            # without it as many targets a sample as there are samples would look the same
            exact=call.short_frame is not None,
            repeated=1.0,
        )


OPS = {
    "div": "aten::div",
    "mul": "aten::mul",
    "sub": "aten::sub",
    "mse_loss": "aten::mse_loss",
    "l1_loss": "aten::l1_loss",
    "smooth_l1_loss": "aten::smooth_l1_loss",
    "huber_loss": "aten::huber_loss",
}


def whereabouts(call: LossCall) -> Place:
    """The line of the loss, or the one that made room for a term without its dimension."""
    line = call.short_frame or call.frame
    shown = call.frame if call.short_frame is not None else None
    return Place(module=call.module or None, op=OPS.get(call.loss), frame=line, symptom_frame=shown)


def stored(call: LossCall) -> str:
    """Say which term was stored without its dimension, and where; empty where that is not known."""
    if call.short_frame is None:
        return ""
    at = spot(call.short_frame)
    return f"Room for `{call.short}` is made{at} without the last dimension: its shape is (B,). Make it (size, 1)."


def stretched(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape two shapes broadcast to."""
    rank = max(len(a), len(b))
    left, right = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(max(i, j) for i, j in zip(left, right, strict=True))
