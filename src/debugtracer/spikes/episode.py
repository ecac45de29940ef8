"""What becomes of an alarm: its class is a guess at once and settled when the next steps are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from debugtracer.spikes.residual import Residual, middle, to_x
from debugtracer.trace.step import StepRef

Shape = Literal["spike", "step change", "divergence", "drift"]
SETTLE = 32  # steps after the first bad one (docs/rationale/spikes.md#classes)
LONGEST = 10  # bad steps that a spike may have (docs/rationale/spikes.md#classes)
CALM_STEPS, CALM = 16, 2.0  # steps, MAD: a median this near is a recovery (docs/rationale/spikes.md#classes)
STEP = 3.0  # MAD; a median above it is another level (docs/rationale/spikes.md#classes)
FLIGHT = 8.0  # MAD; a growing series above it flies away (docs/rationale/spikes.md#classes)
ABRUPT, ABRUPT_STEPS = 2.0, 4  # times the threshold in the last bad step, and steps after it that must be calm (ours)
STRONG, SIGNED = 2.0, 2.0  # times the threshold, and times that for a series with values <= 0 (ours)
# share of the height that may be left after an abrupt end: the updates of the bad steps did move the weights a little
# (ours)
REST = 0.1
SUSPICION_STEPS = 8  # steps after which a suspicion is an alarm or nothing (docs/rationale/spikes.md#change-alarm)


@dataclass
class Episode:
    """One alarm: where it began, what was expected there, and what came after, in MAD above that expectation."""

    ref: StepRef
    """Of its first value."""
    first: Residual
    threshold: float
    sudden: bool
    """Opened by one value (point alarm); else by a change of level, which is a suspicion until confirmed."""
    confirmed: bool = False
    above: list[float] = field(default_factory=list)
    """Distance of each value from the expectation of the first step, the first one included."""
    values: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """The step of each value: a log may hold every tenth."""
    shape: Shape | None = None
    """Settled."""

    def push(self, value: float, step: int) -> None:
        """Add a value of the series, the first bad one included."""
        self.steps.append(step)
        self.above.append((to_x(value, self.first.unit) - self.first.prediction) / self.first.mad)
        self.values.append(value)

    @property
    def expected(self) -> float:
        """The value that the line predicted for the first step."""
        return self.first.expected

    @property
    def peak(self) -> float:
        """The largest value so far."""
        return max(self.values)

    @property
    def size(self) -> float:
        """The largest distance so far, in MAD."""
        return max(self.above)

    @property
    def strong(self) -> bool:
        """Whether it is far beyond the threshold; four times as far for signed values, where a ratio means little
        (REINFORCE)."""
        return self.size >= (STRONG if self.first.unit == 0 else SIGNED * STRONG) * self.threshold

    @property
    def tells(self) -> bool:
        """Whether it says more than chance does: a level that was left, or an outlier that is strong or came twice."""
        if self.shape in (None, "spike"):
            return self.sudden and (self.strong or (self.shape == "spike" and self.bad_steps > 1))
        return True

    @property
    def bad_steps(self) -> int:
        """The number of steps until two values in a row were no alarm."""
        fine = [u <= self.threshold for u in self.above]
        return next((i for i in range(len(fine)) if all(fine[i : i + 2])), len(fine))

    @property
    def last_bad(self) -> int:
        """The step of the last bad value."""
        return self.steps[self.bad_steps - 1]

    @property
    def abrupt(self) -> bool:
        """Whether it was over at once from full height: weights cannot heal that fast, so the batches were to blame."""
        last, after = self.above[self.bad_steps - 1], self.above[self.bad_steps :][:ABRUPT_STEPS]
        return (
            self.shape == "spike"
            and last > ABRUPT * self.threshold
            and len(after) == ABRUPT_STEPS
            and median(after) <= max(CALM, REST * last)
        )

    def refuted(self) -> bool:
        """True for a suspicion whose next steps were normal."""
        return (
            not self.sudden
            and not self.confirmed
            and len(self.above) > SUSPICION_STEPS
            and median(self.above[1:]) <= CALM
        )

    def proven(self) -> bool:
        """True for a suspicion whose next steps stayed up."""
        return (
            not self.sudden
            and not self.confirmed
            and len(self.above) > SUSPICION_STEPS
            and median(self.above[1:]) > CALM
        )

    def settle(self, ended: bool = False) -> Shape | None:
        """The class, once it is known; at the end of the run with what there is."""
        after = self.above[self.bad_steps :]
        if self.bad_steps <= LONGEST and len(after) >= CALM_STEPS and median(after[:CALM_STEPS]) <= CALM:
            self.shape = "spike"
        elif len(self.above) > SETTLE or ended:
            self.shape = self.lasting()
        return self.shape

    def lasting(self) -> Shape:
        """The class of what did not calm down in time."""
        third = max(len(self.above) // 3, 1)
        early, late = median(self.above[:third]), median(self.above[-third:])
        if late > FLIGHT and late > early + CALM and late > STEP:
            return "divergence"
        if late <= STEP or late < 0.5 * early:
            return "spike"
        return "step change" if self.sudden else "drift"


def median(values: list[float]) -> float:
    """The median of at least one value."""
    return middle(sorted(values))
