"""The health snapshot: what the tensors of the model look like at one step, one row a tensor."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

Role = Literal["weight", "gradient", "activation", "tracked", "tracked_gradient"]
# powers of two at the ends of a histogram: below the least fp16 subnormal (2^-24), above its largest value (65504)
LOWEST, HIGHEST = -24, 16


class TensorHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One tensor. Statistics are of its finite values; of a large one they are taken from an even sample of `sampled`
    values, but `l2` is of all."""

    name: str
    """Path of the parameter or leaf module, the function name of an activation, or the name given to track()."""
    role: Role
    shape: tuple[int, ...]
    dtype: str
    sampled: int
    mean: Number
    std: Number
    low: Number
    high: Number
    l2: Number
    zero_share: float
    bad: int = 0
    """Non-finite values among the sampled."""
    bins: tuple[int, ...] = ()
    """Count of |x| per power of two: the first is everything below 2^LOWEST but zero, the last everything from
    2^HIGHEST on."""
    function: str = ""
    """An activation: the function that made it (relu, tanh, softmax), or the kind of its leaf module."""
    frame: Frame | None = None
    outside: bool = False
    """An activation: called outside of all modules, so the row is named by its line."""
    dead_units: float | None = None
    """An activation: share of units (last dimension, or channel) that are zero for the whole batch."""
    saturated: float | None = None
    """tanh: share beyond +-0.99; sigmoid: outside 0.01..0.99; softmax: share of rows whose largest probability is above
    0.999."""
    entropy: float | None = None
    """Softmax: mean entropy of its rows divided by log of their length."""
    logit_max: Number | None = None
    """Softmax: largest finite score that went in."""


class ParamDynamics(msgspec.Struct, frozen=True, kw_only=True):
    """What the update of this step did to one parameter, and the state of its optimizer."""

    name: str
    numel: int
    dtype: str
    optimizer: str
    lr: Number
    weight_l2: Number
    grad_l2: Number | None = None
    update_l2: Number | None = None
    """Norm of the change the step made; None when it was not copied before."""
    moment_l2: Number | None = None
    """Adam: norm of exp_avg."""
    least_v: Number | None = None
    """Adam: smallest non-zero exp_avg_sq, bias-corrected."""
    under_eps: float | None = None
    """Adam: share of touched elements (exp_avg_sq > 0) whose sqrt(v) is below eps."""
    rms: Number | None = None
    """Adam: RMS_t = sqrt(mean(g^2 / max(v, eps^2))) over touched elements (docs/rationale/checks.md#opt_rms_spike)."""
    beta2: float | None = None
    """Adam: its decay of the second moment."""
    log_v: Number | None = None
    """Adam: mean of log(exp_avg_sq) over touched elements, not bias-corrected; alone it falls by log(beta2) a step."""
    lag: Number | None = None
    """Adam: median of g^2 / v (bias-corrected) over elements with a gradient; None when fewer than half of the touched
    ones have one."""
    stalled: float | None = None
    """Half precision: share of elements with a gradient whose update was less than half a unit in the last place, so
    nothing changed."""
    meant_l2: Number | None = None
    """Half precision under Adam: norm of the update that its moments mean, before rounding."""
    arrived: Number | None = None
    """Share of it that the change amounts to: their inner product over the square of that norm, 1 without rounding."""


class Health(Fact, frozen=True, kw_only=True):
    """Every tensor at one step: the first three, then every `inspect_steps`-th, and at the end of a crashing one."""

    ABOUT = "an optimizer"
    KEEP = 24

    tensors: tuple[TensorHealth, ...]
    params: tuple[ParamDynamics, ...] = ()
    at_alarm: bool = False
    """Taken as an alarm found the tensors: kept however many others were."""

    def key(self) -> object:
        """Return whether an alarm asked for it."""
        return self.at_alarm

    def of(self, role: Role) -> dict[str, TensorHealth]:
        """The rows of one role by name."""
        return {t.name: t for t in self.tensors if t.role == role}
