"""What a program saves of its training, and with what it goes on after it has loaded weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number, as_float

SLOTS = 64  # saves are numbered modulo this: each slot is news of its own, so that the first 2,048 saves are written

MOVED = 1e-3  # of the size of a value: a smaller difference is rounding, or one more step of a running statistic (ours)


class PlainValue(msgspec.Struct, frozen=True, kw_only=True):
    """A number, a small tensor or a vocabulary in a plain attribute: no state_dict has it."""

    name: str
    """Class and attribute: `TargetScaler.mean`."""
    size: int
    mean: Number
    """The value itself where the size is 1; of a vocabulary a sum over its entries."""
    spread: Number
    counts: tuple[int, ...] = ()
    """Whole numbers of an object that is no module."""
    frame: Frame | None = None
    """The line that sets it, in the constructor if it is set there."""


class Reset(NamedTuple):
    """A plain attribute at the save and after the load."""

    before: PlainValue
    now: PlainValue


def resets(before: Iterable[PlainValue], now: Iterable[PlainValue]) -> list[Reset]:
    """Return the attributes that are not what they were at the save; without objects that count, as meters do."""
    known = {value.name: value for value in before}
    pairs = [Reset(known[value.name], value) for value in now if value.name in known]
    return [pair for pair in pairs if pair.before.counts == pair.now.counts and differ(*pair)]


def differ(one: PlainValue, other: PlainValue) -> bool:
    """Whether two values are further apart than rounding."""
    pairs = [(as_float(one.mean), as_float(other.mean)), (as_float(one.spread), as_float(other.spread))]
    return one.size != other.size or any(abs(a - b) > MOVED * max(abs(a), abs(b)) for a, b in pairs)


class CheckpointSaved(Fact, frozen=True, kw_only=True):
    """torch.save was called on a mapping or a module that holds weights."""

    ABOUT = "a saved checkpoint"
    KEEP: ClassVar[int] = 16

    parts: tuple[str, ...]
    """Of `weights`, `optimizer`, `scheduler`, `scaler`, `generator`, `counter`: what is in it."""
    live: tuple[str, ...]
    """Of `optimizer` (with a state), `scheduler`, `scaler`: what training uses at this moment."""
    counter: int | None = None
    """A whole number in it that is the number of steps or backward calls so far."""
    nonfinite: tuple[str, ...] = ()
    """Paths of tensors with NaN or infinite elements, at most 8."""
    tensors: int = 0
    frame: Frame | None = None
    weights_only: bool = False
    """A framework that saves all of it by itself was told to save weights alone."""

    def key(self) -> object:
        """Identify the line that saves."""
        return (self.frame.file, self.frame.line) if self.frame else None


class CheckpointMark(Fact, frozen=True, kw_only=True):
    """By what a later run can tell that it loaded the weights of this save: how many floating tensors, and the sum of
    all their elements."""

    ABOUT = "a saved checkpoint"
    KEEP: ClassVar[int] = 4

    slot: int
    """Number of the save modulo SLOTS."""
    tensors: int
    total: Number
    parts: tuple[str, ...] = ()
    plain: tuple[PlainValue, ...] = ()
    """What the models and the objects around the loop held in plain attributes."""

    def key(self) -> object:
        """Identify the slot that the fact is about."""
        return self.slot


class OtherSave(Fact, frozen=True, kw_only=True):
    """Tensors were written by other means than torch.save, after at least one update."""

    ABOUT = "a saved checkpoint"
    KEEP: ClassVar[int] = 4

    means: str
    """safetensors, torch.distributed.checkpoint."""
    slot: int
    """As in CheckpointMark."""

    def key(self) -> object:
        """Identify the means of saving and the slot."""
        return self.means, self.slot


class Resumed(Fact, frozen=True, kw_only=True):
    """The first update of parameters that were loaded, and what of the training state came along."""

    ABOUT = "a loaded checkpoint"
    KEEP: ClassVar[int] = 16

    saved: tuple[str, ...] = ()
    """Parts of the file the weights came from."""
    restored: tuple[str, ...] = ()
    """Of `optimizer`, `scheduler`, `scaler`: what was loaded too."""
    saved_here: bool = False
    """The same weights were saved by this process, after at least one update."""
    saved_step: int | None = None
    counter: bool = False
    """The file counts the steps of this very run."""
    optimizer: str = ""
    stateful: bool = True
    """The optimizer keeps moments (Adam, or SGD with momentum)."""
    fresh: bool = False
    """Its state is empty."""
    same_data: bool | None = None
    """The last batch came from a loader built by the line of the one at the save, over as many samples; None where no
    loader was in use."""
    file_fits: bool = False
    """The file holds the state of an optimizer with the same groups, first learning rates and options as the one that
    begins."""
    file_rate: float | None = None
    """The largest rate in the file, where it holds the state of an optimizer with the same groups and options but
    another rate."""
    edited: bool = False
    """Some of the loaded parameters were written again before the update: pruned, clamped, a new head."""
    in_place: bool = False
    """The very parameters that this process saved were loaded again: the loop goes on with the objects it had."""
    partial: bool = False
    """The optimizer trains parameters that were not loaded, too: a new head on an encoder."""
    same_setup: bool = False
    """The optimizer that trained the saved weights was of the same class and first learning rate, and built by the same
    line or loaded at once."""
    schedule_fresh: bool | None = None
    """A scheduler drives this optimizer and stands at its beginning; None without one."""
    schedule_before: int | None = None
    """Steps of the schedule at the save."""
    lr: float | None = None
    lr_before: float | None = None
    misplaced: tuple[str, ...] = ()
    """`name <- name`: parameters that got the state of another one."""
    save_frame: Frame | None = None
    load_frame: Frame | None = None
    optimizer_load_frame: Frame | None = None
    plain: tuple[PlainValue, ...] = ()
    """What the models and the objects around the loop hold in plain attributes."""
    plain_before: tuple[PlainValue, ...] = ()
    """The same at the save, where this process did it."""
