"""What came of one trial: the loss of the step, its first bad op, the size of its gradients, and a healthy batch after
the update."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.recorder.state.sharded import is_sharded
from debugtracer.replay.op_trace.calls import EMPTY


@dataclass
class Score:
    """The four scores (docs/rationale/checks.md#four-scores). None where a part was not replayed."""

    loss: float | None = None
    grad_l2: float | None = None
    probe_loss: float | None = None
    bad_op: str | None = None
    finite_update: bool | None = None
    """Every parameter finite after the update."""
    finite_output: bool | None = None
    """For a step without a loss: what the root gave."""
    seconds: float = 0.0
    change: str = ""
    """What was changed, in words."""
    voided: str = ""
    """Why a run that was not healthy shows nothing: the step itself undid the change."""
    refused: str = ""
    """Why it could not run; then nothing else is known."""

    def weighed(self, healed: bool) -> Score:
        """Return the score as a trial counts it: one that the step undid could not run, unless the step was healthy
        anyway."""
        return (
            Score(seconds=self.seconds, refused=self.voided)
            if self.voided and not healed and not self.refused
            else self
        )

    @property
    def finite(self) -> bool:
        """Whether nothing that was computed is NaN or Inf."""
        numbers = [v for v in (self.loss, self.grad_l2, self.probe_loss) if v is not None]
        return (
            not self.refused
            and all(map(math.isfinite, numbers))
            and self.finite_update is not False
            and self.finite_output is not False
        )


def norm(tensors: list[Tensor]) -> float:
    """The L2 norm of all of them together, in float64. Syncs the host."""
    dense = [t.detach() if t.layout is torch.strided else t.detach().coalesce().values() for t in tensors]
    return math.sqrt(sum(float(torch.linalg.vector_norm(t.double())) ** 2 for t in dense)) if dense else 0.0


def all_finite(tensors: list[Tensor]) -> bool:
    """True without any NaN or Inf. Syncs the host."""
    return all(bool(torch.isfinite(t).all()) for t in tensors if t.layout is torch.strided)


class FirstBad(TorchDispatchMode):
    """Remembers the first aten op that gives NaN; if none does, the first that gives Inf from finite values."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.nan: str | None = None
        self.inf: str | None = None

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that dynamo never traces this mode: replays run eagerly."""
        return False

    @property
    def op(self) -> str | None:
        """The first op with NaN, else the first with Inf."""
        return self.nan or self.inf

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run it, look at what it gives until something is found."""
        out = func(*args, **(kwargs or {}))
        if self.nan is None and func.__name__.split(".")[0] not in EMPTY:
            for tensor in (out,) if isinstance(out, Tensor) else out if isinstance(out, (tuple, list)) else ():
                if readable(tensor) and not bool(torch.isfinite(tensor).all()):
                    name = f"aten::{func.__name__.split('.')[0]}"
                    self.nan = self.nan or (name if bool(torch.isnan(tensor).any()) else None)
                    self.inf = self.inf or name
        return out


def readable(value: Any) -> bool:
    """True for floating values in one piece; to read all parts of a sharded tensor is a collective without the other
    ranks."""
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.layout is torch.strided
        and not is_sharded(value)
    )
