"""The recorded step of a capsule about to run again, as an intervention sees it and may change it: aten operators and
shapes, no user code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from debugtracer.interventions.rerun import guilty_line
from debugtracer.recorder.capsule.recorded import OpRow, Place, Recorded, Ref
from debugtracer.trace.birth import Birth
from debugtracer.trace.incident import Symptom

Before = Callable[[tuple[Any, ...], dict[str, Any]], None]
"""Called with the arguments of an op just before it runs; may write to its tensors. What else reads that memory, the
derivative first of all, sees it too."""
After = Callable[[list[Tensor | None]], None]
"""Called with the results of an op; may write to them."""
Between = Callable[[Callable[[int], Tensor]], None]
"""Called just before an op, with a reader that gives the tensor of any ref that is alive; may write to them."""


@dataclass
class OfflineRerun:
    """What is known of the recorded step, and the changes asked for. An intervention writes only below the line
    `changes`."""

    symptom: Symptom
    program: Recorded
    value: Callable[[int], Tensor]
    """The bytes the step found in an input, by ref; a copy."""
    inputs: tuple[tuple[str, int], ...] = ()
    """(label, ref) of the inputs whose bytes were kept: `batch[0]`, `parameter head.weight`,
    `buffer bn.running_var`."""
    birth: Birth | None = None
    rows: int | None = None
    """Rows of the batch."""
    guilty: tuple[int, ...] | None = None
    """Rows known to be guilty."""

    # changes
    replaced: dict[int, Tensor] = field(default_factory=dict)
    """Ref of an input -> its bytes from the start, of the same shape."""
    other: dict[int, OpRow] = field(default_factory=dict)
    """Number of an op -> the row that runs in its place: other numbers among its arguments."""
    before: dict[int, list[Before]] = field(default_factory=dict)
    after: dict[int, list[After]] = field(default_factory=dict)
    between: dict[int, list[Between]] = field(default_factory=dict)
    dtype: str | None = None
    """Everything floating in this dtype."""
    device: str | None = None
    seed: int | None = None
    """Random ops draw from this seed instead of the recorded states."""
    values_changed: int = 0
    """Counted by the changes in memory while the step runs."""
    doubts: list[Callable[[], str]] = field(default_factory=list)
    """Asked when the run is over: why the change did not take place, empty when it did."""

    def batch(self) -> Iterator[tuple[str, int]]:
        """The inputs whose first dimension is the rows of the batch."""
        for label, ref in self.inputs:
            shape = self.program.refs[ref].shape
            if label.startswith("batch") and self.rows is not None and shape and shape[0] == self.rows:
                yield label, ref

    def floats(self) -> set[str]:
        """The floating dtypes that the step holds."""
        return {ref.dtype for ref in self.program.refs if "float" in ref.dtype}

    def ops(self) -> Iterator[tuple[int, OpRow, str, Place]]:
        """Yield number, row, bare name (`div` for `aten::div_.Tensor`) and place of every op."""
        for number, row in enumerate(self.program.ops):
            yield number, row, bare(self.program.names[row.op]), self.program.places[row.place]

    def window(self, value: Any) -> Ref | None:
        """The tensor that an encoded argument stands for, None for anything else."""
        number = value.get("t") if isinstance(value, dict) else None
        return self.program.refs[number] if isinstance(number, int) and 0 <= number < len(self.program.refs) else None

    def guilty_place(self) -> str:
        """Format the guilty line, `model.py:88`; "the step" when it is not known."""
        return guilty_line(self.birth)


def bare(name: str) -> str:
    """Return the bare op name: `add` for `aten::_foreach_add_.List`, `native_layer_norm` for its `.default`."""
    return name.partition("::")[2].partition(".")[0].strip("_").removeprefix("foreach_")


def number_of(value: Any) -> float | None:
    """The number that an encoded argument stands for, None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    word = value.get("f") if isinstance(value, dict) else None
    try:
        return float.fromhex(word) if isinstance(word, str) else None
    except (ValueError, OverflowError):
        return None


def as_argument(value: float) -> dict[str, str]:
    """A number as an encoded argument (recorder/encode)."""
    return {"f": float(value).hex()}
