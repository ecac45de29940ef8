"""What a check may see: the last values of each series up to one place in the run, read-only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.step import StepRef

F = TypeVar("F", bound=Fact)
DEPTH = 640  # values a check can see: 500 and 64 of the point alarm (docs/rationale/spikes.md#point-alarm)

LOSS = "loss"  # the loss that the user called backward on, as float
GRAD_L2 = "grad_l2"  # L2 norm of all gradients at the gate
GRAD_MAX = "grad_max"  # largest |gradient|; only taken to confirm a norm that overflowed
PARAM_L2 = "param_l2"  # L2 norm of all parameters after the update
PARAM_MAX = "param_max"  # largest |parameter|; only taken to confirm a norm that overflowed
OUTPUT_NAN = "output_nan"  # NaN elements in a root output that no backward follows (evaluation, generation)
LR = "lr"  # learning rate of the first parameter group
SCALE = "scale"  # loss scale of a GradScaler, by which grad_l2 of the same step may be multiplied
LOSS_SCALE = "loss_scale"  # loss scale that an update was made with
SCALER_SKIPPED = "scaler_skipped"  # 1 where a GradScaler skipped the update, else 0
SKIPPED_ROW = "skipped_row"  # updates of an optimizer that its GradScaler has skipped since the last one
NONFINITE_ROW = "nonfinite_losses"  # losses in a row that were NaN or infinite; 0 at the first finite one after them
CLIP_RATIO = "clip_ratio"  # norm before clipping / largest norm allowed
VAL_LOSS = "val_loss"  # as the program logs it, else the mean loss of an evaluation
STEP_S = "step_s"  # seconds from update to update
WAIT_S = "wait_s"  # seconds of these spent waiting for batches
OWN_S = "own_s"  # seconds of these spent in debug-tracer
FORWARD_S = "forward_s"  # seconds of these in calls of the model, by the clock of the host
BACKWARD_S = "backward_s"  # seconds of these in backward, by the clock of the host
UPDATE_S = "update_s"  # seconds of these in the optimizer's step, by the clock of the host

ENDED = "ended"  # flag: the run is over, no further step comes
SCALER_SKIPPING = "scaler_skipping"  # flag: an enabled GradScaler found the bad gradient and skips this update itself


@dataclass(frozen=True)
class Window:
    """What a check may see at one place of a run, read-only.

    `series` holds the last DEPTH values of each series, oldest first; the last one belongs to `ref` if its name is in
    `fresh`. `facts` holds the last facts of each kind, oldest first; the last `came[kind]` of them came since the
    window before. `bad` names the tensors known to be non-finite at `ref` (parameters or outputs, in optimizer order).
    """

    ref: StepRef
    series: Mapping[str, Sequence[float]] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    bad: tuple[str, ...] = ()
    facts: Mapping[type[Fact], Sequence[Fact]] = field(default_factory=dict)
    came: Mapping[type[Fact], int] = field(default_factory=dict)
    memories: dict[str, dict[Any, Any]] = field(default_factory=dict)
    skipped: int = 0
    """Steps since the window before this one that nobody judges: training is faster than the judge may be."""

    def now(self, name: str) -> float | None:
        """The value of a series at `ref`; None if it was not measured there."""
        return self.series[name][-1] if name in self.fresh and self.series.get(name) else None

    def before(self, name: str) -> tuple[float, ...]:
        """The finite values of a series before `ref`, oldest first."""
        values = tuple(self.series.get(name, ()))
        return tuple(filter(math.isfinite, values[:-1] if name in self.fresh else values))

    def finite(self, name: str) -> list[float]:
        """Return the values of a series so far that are finite, oldest first."""
        return [v for v in self.series.get(name, ()) if math.isfinite(v)]

    def seen(self, kind: type[F]) -> list[F]:
        """The facts of a kind up to `ref`, oldest first, at most kind.KEEP."""
        return list(self.facts.get(kind, ()))  # type: ignore[arg-type]

    def new(self, kind: type[F]) -> list[F]:
        """The facts of a kind that came since the window before this one."""
        count = self.came.get(kind, 0)
        return self.seen(kind)[-count:] if count else []

    def last(self, kind: type[F]) -> F | None:
        """The latest fact of a kind."""
        known = self.facts.get(kind)
        return known[-1] if known else None  # type: ignore[return-value]

    def memory(self, check: Any) -> dict[Any, Any]:
        """The notebook of one check, which is kept as long as the run is judged: windows come in order, so a detector
        may count in it."""
        return self.memories.setdefault(check.slug, {})

    @property
    def ended(self) -> bool:
        """True in the last window of a run."""
        return ENDED in self.flags


def spoken(values: tuple[float, ...], last: int = 5) -> str:
    """The last values before a fault, for a message: `the last 3 were 2.31, 2.3, 2.28`."""
    if not values:
        return "there is no finite value before it"
    shown = ", ".join(f"{v:.4g}" for v in values[-last:])
    return f"the last {len(values[-last:])} were {shown}" if len(values) > 1 else f"the one before was {shown}"
