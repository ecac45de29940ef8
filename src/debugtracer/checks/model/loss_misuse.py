"""Is the input of the loss what that loss expects: scores, log-probabilities or probabilities?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.loss_calls import by_line
from debugtracer.trace.facts.loss_call import DISTRIBUTION, LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

OPS = {
    "softmax": "aten::_softmax",
    "log_softmax": "aten::_log_softmax",
    "sigmoid": "aten::sigmoid",
    "logsigmoid": "aten::log_sigmoid_forward",
}
ABOVE = 0.1  # largest value from which on it is no log-probability (ours: rounding is far less)


class LossMisuse(Check, frozen=True):
    """The loss is fed with outputs that are already normalised, or not normalised when they should be.

    What it catches
        Softmax before CrossEntropyLoss, softmax without log before NLLLoss, KLDivLoss or CTCLoss, sigmoid before
        BCEWithLogitsLoss, softmax over a dimension of one, or over the batch; `Categorical(logits=...)` of a softmax;
        raw scores given to NLLLoss or CTCLoss.
    Why it matters
        Nothing crashes. The loss has a floor it cannot pass (log(1 + (C - 1)/e): 1.461 for 10 classes) and gradients
        are squashed.
    How it decides
        In `calls` inspected calls of one line the input lies in [0, 1] and sums to 1 over the classes (to rounding), or
        autograd's graph says that it is the output of a softmax or sigmoid; or log-probabilities, of labels of the data
        or an alignment, do not sum to 1 and some are above 0. Only the input is judged: soft targets are
        fine, so is log_softmax before cross-entropy, which changes nothing.
    What to do
        Give the loss what its page asks for: raw scores for CrossEntropyLoss and BCEWithLogitsLoss, log-probabilities
        for NLLLoss.
    Example
        step 0, rank 0: the input of cross_entropy is already a softmax (module softmax, train.py:16): its rows sum to 1
        in 3 of 3 calls; expected raw scores; so the loss cannot fall below 1.461. Remove the softmax.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "loss_misuse"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    proved_by: ClassVar[str] = "model/softmax_head"

    calls: int = 3
    """Calls of the same line that must agree (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each line that calls a loss."""
        for key, calls in by_line(window).items():
            what = [misuse(c) for c in calls]
            if what[0] and all(w == what[0] for w in what) and (len(calls) >= self.calls or window.ended):
                memory = window.memory(self)
                if key not in memory:
                    memory[key] = True
                    yield self.describe(window, calls, what[0])

    def describe(self, window: Window, calls: list[LossCall], what: tuple[str, str, str]) -> Finding:
        """Build the finding with what the input is and what the loss expects."""
        call, (is_now, expected, remedy) = calls[0], what
        maker = call.maker
        by = ""
        if maker is not None:
            inside = f"module {maker.module}, " if maker.module else ""
            by = f" ({inside}line {maker.frame.line})" if maker.frame else ""
        floor = (
            f"; so the loss cannot fall below {least(call):.4g}" if call.loss == "cross_entropy" and least(call) else ""
        )
        return self.finding(
            window,
            "error",
            f"the input of {call.loss} is {is_now}{by} in {len(calls)} of {len(calls)} calls; expected "
            f"{expected}{floor}. {remedy}.",
            ref=call.ref,
            place=Place(
                module=maker.module if maker else call.module,
                op=OPS.get(maker.function) if maker else None,
                frame=maker.frame if maker and maker.frame and call.loss != DISTRIBUTION else call.frame,
                symptom_frame=call.frame,
            ),
            remedies=(remedy,),
            classes=float(call.classes or 0),
            calls=float(len(calls)),
        )


def least(call: LossCall) -> float | None:
    """The floor of cross-entropy over probabilities with hard labels: log(1 + (C - 1)/e)."""
    return None if "float" in call.target_dtype or not call.classes else math.log(1 + (call.classes - 1) / math.e)


def over_batch(call: LossCall) -> bool:
    """True if a matrix of (batch, classes) is normalised along the batch."""
    maker, shape = call.maker, call.input_shape
    along = maker is not None and "softmax" in maker.function and maker.dim in (0, -2)
    return along and call.loss in ("cross_entropy", "nll_loss", "kl_div") and len(shape) == 2 and shape[0] > 1


def is_raw(call: LossCall) -> bool:
    """True if scores are taken for log-probabilities: of labels of the data, as what is drawn may be weighed by its
    advantage."""
    known = call.loss == "ctc_loss" or (call.loss == "nll_loss" and call.target_is_batch and call.reduction != "none")
    above = isinstance(call.input_high, float) and call.input_high > ABOVE
    return known and above and call.form == "scores" and call.maker is None and call.input_grad


def misuse(call: LossCall) -> tuple[str, str, str] | None:
    """What the input is, what was expected, what to do; None when the call is right."""
    made = call.maker.function if call.maker else ""
    size = call.maker.size if call.maker else None
    if made == "softmax" and size == 1:
        return (
            "a softmax over a dimension of size 1, so always 1",
            "a sigmoid for one output",
            "Use BCEWithLogitsLoss on the raw output, or two classes",
        )
    if over_batch(call):
        return (
            f"a {made} over the batch (dim 0)",
            "one over the classes (dim 1)",
            "Normalise over the classes: dim=1 or dim=-1",
        )
    proven = made == "softmax" or (call.form == "probabilities" and (call.classes or 0) > 1)
    if call.loss == "cross_entropy" and proven and call.form in ("probabilities", "") and call.input_grad:
        return (
            "already a softmax: its rows sum to 1",
            "raw scores",
            "Remove the softmax: cross_entropy applies log_softmax itself",
        )
    if call.loss == DISTRIBUTION and made == "softmax":
        return (
            "already a softmax, given as logits",
            "raw scores, or probs= for probabilities",
            "Give it as Categorical(probs=...), or remove the softmax: logits are put through one",
        )
    if call.loss == "nll_loss" and proven and call.form == "probabilities":
        return (
            "a softmax: its rows sum to 1",
            "log-probabilities",
            "Use log_softmax before nll_loss, or cross_entropy on the raw scores",
        )
    if is_raw(call):
        return (
            "raw scores, some above 0,",
            "log-probabilities",
            f"Use log_softmax over the classes before {call.loss}"
            + (", or cross_entropy on the raw scores" if call.loss == "nll_loss" else ""),
        )
    if call.loss in ("kl_div", "ctc_loss") and call.form == "probabilities" and proven:
        return "a softmax: its rows sum to 1", "log-probabilities", f"Use log_softmax before {call.loss}"
    if call.loss == "kl_div" and not call.log_target and isinstance(call.target_high, float) and call.target_high < 0:
        return (
            "compared with log-probabilities",
            "probabilities as target (log_target is False)",
            "Pass log_target=True to kl_div, or exponentiate the target",
        )
    if call.loss == "binary_cross_entropy_with_logits" and made == "sigmoid":
        return (
            "already a sigmoid",
            "raw scores",
            "Remove the sigmoid: binary_cross_entropy_with_logits applies it itself",
        )
    return None
