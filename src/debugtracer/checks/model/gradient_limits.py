"""Is a gradient beyond the fixed limits that somebody has set?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.snapshots import is_matrix, pull, taken
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.health import Health
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, Window, spoken

FLAT = 1e-8  # std of a weight below which it is no measure of its gradient (docs/rationale/checks.md#std-ratio)


class GradientLimits(Check, frozen=True):
    """A gradient is beyond a fixed limit.

    What it catches
        What you know to be too much for this model: an absolute gradient norm, or a gradient out of proportion to its
        weight.
    Why it matters
        The other checks compare a run with its own past; a fixed limit also holds at the first step and for slow
        growth.
    How it decides
        Off until an option is above 0; `--preset seed` sets them as articles on debugging do. The norm of all
        gradients: above `norm_high` or below `norm_low`. Each weight matrix, in `snapshots` health snapshots in a row:
        norm(gradient)/norm(weight) below `ratio` (vanishing) or norm(weight)/norm(gradient) below it (exploding, or
        tiny weights), or std(gradient)/std(weight) above `std_ratio`. Vectors (norm gains, biases) start at zero and
        are left out.
    What to do
        Too large: clip, lower the learning rate, normalise. Too small: look at saturation, depth and the loss scale.
    Example
        step 3, rank 0: the gradient norm is 1811; the last 3 were 21.3, 24.1, 22; expected at most 1000. Clip before
        step(), or lower the learning rate.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (GRAD_L2, Health)
    symptom: ClassVar[str] = "none"
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients", "lr-too-high")
    remedies: ClassVar[tuple[str, ...]] = (
        "too large: clip before step(), or lower the learning rate",
        "too small: normalise, add residual connections, raise the loss scale",
    )
    proved_by: ClassVar[str] = "optimizer/long_recurrence"

    norm_high: float = 0.0  # L2 norm of all gradients, 0 is off (1e3 with `--preset seed`)
    norm_low: float = 0.0  # L2 norm of all gradients, 0 is off (1e-5 with `--preset seed`)
    ratio: float = 0.0  # norm over norm, either way, 0 is off (1e-5 with `--preset seed`)
    # standard deviation of a gradient over that of its weight, 0 is off (100 with `--preset seed`)
    std_ratio: float = 0.0
    snapshots: int = 3  # health snapshots in a row (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning for the norm, and one for the worst matrix."""
        norm = window.now(GRAD_L2)
        if norm is not None and 0 < self.norm_high < norm:
            yield self.describe(
                window, norm, f"most {self.norm_high:g}. Clip before step(), or lower the learning rate."
            )
        elif norm is not None and norm < self.norm_low:
            yield self.describe(window, norm, f"least {self.norm_low:g}. Look at saturation, depth and the loss scale.")
        if (self.ratio or self.std_ratio) and window.new(Health):
            yield from self.matrices(window)

    def describe(self, window: Window, norm: float, expected: str) -> Finding:
        """The norm of all gradients."""
        return self.finding(
            window,
            "warning",
            f"the gradient norm is {norm:.4g}; {spoken(window.before(GRAD_L2))}; expected at {expected}",
            grad_l2=norm,
        )

    def matrices(self, window: Window) -> Iterator[Finding]:
        """The first matrix that is beyond a limit in every one of the last snapshots."""
        facts = taken(window)[-self.snapshots :]
        if len(facts) < self.snapshots:
            return
        beyond = [self.beyond(fact) for fact in facts]
        for name, text in beyond[-1].items():
            if all(name in one for one in beyond):
                yield self.finding(
                    window,
                    "warning",
                    f"the gradient of {name} {text}",
                    ref=facts[-1].ref,
                    place=Place(param=name, module=name.rpartition(".")[0]),
                )
                return

    def beyond(self, fact: Health) -> dict[str, str]:
        """Map each matrix that is beyond a limit in this snapshot to the sentence about it."""
        weights, gradients = fact.of("weight"), fact.of("gradient")
        told: dict[str, str] = {}
        for param in fact.params:
            row, share = weights.get(param.name), pull(param)
            if row is None or not is_matrix(row) or share is None or not math.isfinite(share):
                continue
            spread = (
                as_float(gradients[param.name].std) / as_float(row.std)
                if param.name in gradients and as_float(row.std) > FLAT
                else 0.0
            )
            if share < self.ratio:
                told[param.name] = (
                    f"is {share:.2g} of its weight (norms); expected at least {self.ratio:g}. Look at saturation and "
                    "depth."
                )
            elif share * self.ratio > 1:
                told[param.name] = (
                    f"is {share:.2g} times its weight (norms); expected at most {1 / self.ratio:g}. Clip, or start "
                    "larger."
                )
            elif 0 < self.std_ratio < spread:
                told[param.name] = (
                    f"spreads {spread:.3g} times as wide as its weight; expected at most {self.std_ratio:g}. Clip it."
                )
        return told
