"""One call of a loss function: what it was given and what came out, seen on inspected steps."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

INDEXED = frozenset({"cross_entropy", "nll_loss"})
BINARY = frozenset({"binary_cross_entropy", "binary_cross_entropy_with_logits"})
ELEMENTWISE = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
LOSSES = INDEXED | BINARY | ELEMENTWISE | {"kl_div", "ctc_loss"}
"""Loss functions of torch.nn.functional that are told of."""
COMPARISONS = frozenset({"eq", "__eq__"})
"""Functions that count right answers in an evaluation, told of under the first name where they are stretched."""
ERRORS = frozenset({"sub", "__sub__", "rsub", "__rsub__", "subtract"})
"""Functions that measure how far answers are off in an evaluation, told of as `sub` in the same case."""
CUTS = frozenset({"gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__", "round", "argmax", "max"})
"""Functions that make decisions of scores, told of in an evaluation beside a number alone."""
DISTRIBUTION = "Categorical"
"""The name under which the logits of a distribution over classes are told of."""
Form = Literal["", "probabilities", "log_probabilities", "scores"]


class Maker(msgspec.Struct, frozen=True, kw_only=True):
    """The normalising or bounding function whose output (or a view of it) is the input of the loss."""

    function: str
    """softmax, log_softmax, sigmoid, logsigmoid, tanh, relu, clamp ..."""
    dim: int | None = None
    size: int | None = None
    """Length of the dimension it normalises."""
    module: str | None = None
    frame: Frame | None = None
    low: Number = "-Infinity"
    high: Number = "Infinity"
    """The least and the greatest value that it can give."""
    zeros: Number | None = None
    """Share of the input of the loss, or of the softmax before it, that is exactly 0, where it can give nothing
    less."""
    given: Maker | None = None
    """Of a softmax: the bounding function that made what it was given."""


class LossCall(Fact, frozen=True, kw_only=True):
    """What a loss function of torch was called with. Shares and ranges are over all targets, `form` over the first
    rows."""

    KEEP = 64

    loss: str
    """Name of the function: cross_entropy, nll_loss, binary_cross_entropy_with_logits, mse_loss, sub (a difference with
    the targets) ..."""
    number: int = 0
    """How many calls were emitted before it in the run."""
    frame: Frame | None = None
    module: str | None = None
    """Path of the module that called it, if one did."""
    input_shape: tuple[int, ...] = ()
    input_dtype: str = ""
    input_grad: bool = True
    """The input hangs on a graph."""
    target_shape: tuple[int, ...] = ()
    target_dtype: str = ""
    target_is_batch: bool = False
    """The target is a tensor of a fetched batch, not computed."""
    classes: int | None = None
    reduction: str = "mean"
    chosen: Frame | None = None
    """The line of the program that asks for the sum."""
    ignore_index: int | None = None
    label_smoothing: float = 0.0
    weighted: bool = False
    log_target: bool = False
    value: Number | None = None
    counted: int = 0
    """Targets that count."""
    ignored: float = 0.0
    """Share of targets equal to ignore_index."""
    target_low: Number | None = None
    target_high: Number | None = None
    """Range of the targets that count."""
    outside: int = 0
    """Targets that count and lie outside their range ([0, classes) for indices, [0, 1] for probabilities)."""
    outside_rows: tuple[int, ...] = ()
    outside_samples: tuple[int, ...] | None = None
    prior_entropy: Number | None = None
    """Entropy of the classes of this batch, nats."""
    input_low: Number | None = None
    input_high: Number | None = None
    form: Form = ""
    """What the input is along its class dimension."""
    maker: Maker | None = None
    unreached: int = 0
    """Targets outside of the range of the function that made the input, of a loss that is reduced."""
    unreachable: Number | None = None
    """Part of the variance of the targets that no input within that range can explain."""
    row_low: Number | None = None
    row_high: Number | None = None
    """Least and greatest sum of the rows of targets that are class probabilities."""
    multi_hot: bool = False
    """Such targets are all 0 or 1."""
    score_limit: float | None = None
    """Largest size that a score can have: the input is a product of rows of length 1, times this constant."""
    broadcast: bool = False
    """Input and target were stretched to a shape larger than both."""
    explicit: bool = False
    """The stretched operand got its dimension of 1 from a view (unsqueeze): on purpose."""

    short: str = ""
    """The name of the term that lacks the dimension which its neighbours have, where the program stored it so."""
    short_frame: Frame | None = None
    """The line that made room for it."""

    def key(self) -> object:
        """Identify the loss and the line that calls it."""
        return self.loss, self.frame
