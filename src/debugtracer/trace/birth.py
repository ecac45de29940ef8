"""Where a bad value was born, as found on a replayed step."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.number import Number

Direction = Literal["forward", "backward", "update", "input"]
BirthKind = Literal["overflow", "domain", "inf-inf", "0/0", "0*inf", "uninitialised", "input"]


class Frame(msgspec.Struct, frozen=True):
    """One line of Python: absolute path, 1-based line, function name, stripped source text ("" if unreadable)."""

    file: str
    line: int
    function: str = ""
    code: str = ""


class TensorFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one tensor. low/high are the range of its finite values (None if there are none)."""

    name: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    nan: int = 0
    posinf: int = 0
    neginf: int = 0
    low: Number | None = None
    high: Number | None = None
    values: tuple[Number, ...] = ()
    """Its values at the bad coordinates of the output (broadcast), at most 8."""
    made_by: str = ""
    """The aten op that made it in this step; "" for an input of the step or when it is not known."""
    made_at: Frame | None = None
    """The program's line that called that op."""


class ChainLink(msgspec.Struct, frozen=True, kw_only=True):
    """One op on the way of the bad value from birth to loss or gradient."""

    op: str
    direction: Direction
    module: str | None = None
    file: str | None = None
    line: int | None = None
    nan: int = 0
    inf: int = 0
    numel: int = 0


class EmptyGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a list with one for each row, which is empty where others are not."""

    name: str
    """The list: `to_neighs`."""
    row: int
    kind: str
    """What is empty: set, list, tuple or dict."""
    called: tuple[tuple[str, str], ...] = ()
    """What stands for the row in other lists of the same function: a name and its entry."""
    others: int = 0
    """How many rows have something."""


class Birth(msgspec.Struct, frozen=True, kw_only=True):
    """The first op whose bad output reaches the loss or a gradient (docs/rationale/contracts.md#op)."""

    op: str | None
    direction: Direction
    kind: BirthKind
    backward_op: str | None = None
    inner_op: str | None = None
    """Inside a fused or composite op: the aten op of its decomposition that made the bad value."""
    module: str | None = None
    """Path below the root that ran ("" = the root itself); None for free code and loss modules outside it."""
    frames: tuple[Frame, ...] = ()
    """Innermost first: user frames of the forward line (also for a backward op)."""
    library: Frame | None = None
    """Where the op runs inside a library that is not torch: the symptom. The line to edit is the user's, `frames`."""
    entry: int | None = None
    """Index of the tape entry it happened in."""
    output: TensorFacts | None = None
    inputs: tuple[TensorFacts, ...] = ()
    coordinates: tuple[tuple[int, ...], ...] = ()
    """At most 8 coordinates of bad elements in the output."""
    rows: tuple[int, ...] | None = None
    """Rows of the batch dimension that are guilty, all of them; None when it is not known."""
    chain: tuple[ChainLink, ...] = ()
    input_name: str | None = None
    """For kind input: which tensor was bad on entry, e.g. `batch[0]`, `parameter head.weight`,
    `buffer bn.running_var`."""
    number: Number | None = None
    """A number of the program, NaN or Inf, that the op was given beside finite tensors."""
    param: str | None = None
    """The parameter that was written, when the op writes one (direction update)."""
    infinity: Frame | None = None
    """The program's line that wrote, on purpose, the infinities which the op met: the fill of a mask."""
    group: EmptyGroup | None = None
    """A division by 0: the group of the first bad row, of which the program's own lists have nothing."""
    flushed_share: float | None = None
    """Underflow: share of gradient elements flushed to zero by the working dtype (0..1)."""

    @property
    def frame(self) -> Frame | None:
        """The line where a person edits."""
        return self.frames[0] if self.frames else None

    @property
    def innermost(self) -> Frame | None:
        """The line that calls the op, also one of a library."""
        return self.library or self.frame
