"""What is remembered of a save and of a load: parts, setup of the optimizers, order of their parameters, schedule and
data."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.observers.checkpoint.checkpoint_parts import Setup, print_of
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import PlainValue

SETTING = (bool, int, float, str, type(None))


class DataInUse(NamedTuple):
    """The loader that gave the last batch."""

    frame: Frame | None
    """The line that built it."""
    length: int | None
    settings: frozenset[tuple[str, object]] = frozenset()
    """What the constructor of its dataset was given, as far as plain attributes of the same name hold it."""


@dataclass
class SavedState:
    """One torch.save of this process."""

    mark: tuple[int, float] | None
    words: set[str]
    step: int
    counter: int | None
    frame: Frame | None
    setups: set[tuple[str, float | None, Frame | None]]
    """Class, first learning rate and line of the optimizers that had a state."""
    order: list[list[str]]
    """Parameter names of each of them, in its own order."""
    schedule: int | None
    lr: float | None
    data: DataInUse | None = None
    """Line and length of the loader in use."""
    plain: tuple[PlainValue, ...] = ()
    """What models and the objects around the loop held in plain attributes."""
    trained: Sequence[weakref.ref[Tensor]] = ()
    """The first parameter of each of the optimizers."""

    def is_of(self, parameters: ById[Tensor, bool]) -> bool:
        """Whether the very objects that were saved are among these."""
        return any(p in parameters for reference in self.trained if (p := reference()) is not None)

    def fits(self, kind: str, rate: float | None, line: Frame | None, at_once: bool) -> bool:
        """True for an optimizer of this class and rate, built at the line of the one at the save or loaded at once: a
        fine-tuning differs."""
        return any(k == kind and r == rate and (line == at or at_once) for k, r, at in self.setups)


class WrittenFile:
    """How often the parameters of a module have been written, and what is in them: DDP writes them anew with the same
    values."""

    def __init__(self, owner: nn.Module) -> None:
        self.owner = weakref.ref(owner)
        self.versions = [p._version for p in owner.parameters()]
        self.mark = print_of(dict(owner.named_parameters()))

    def written_since(self) -> bool:
        """Whether other values have been written since. Call under no_grad."""
        owner = self.owner()
        if owner is None or [p._version for p in owner.parameters()] == self.versions:
            return False
        return print_of(dict(owner.named_parameters())) != self.mark


@dataclass
class LoadedState:
    """One load_state_dict of a module."""

    parameters: ById[Tensor, bool]
    """Those of the module, weakly: another network may come to lie where one has been."""
    frame: Frame | None
    saved: SavedState | None
    words: set[str]
    setups: list[Setup] = field(default_factory=list)
    """Of the optimizer states in the file."""
    step: int = 0
    mark: tuple[int, float] | None = None
    restored: set[str] = field(default_factory=set)
    optimizer_frame: Frame | None = None
    written: WrittenFile | None = None
    """Its parameters when the load was over."""

    def goes_on(self, held: Sequence[Tensor]) -> bool:
        """Whether an optimizer trains some of it: a teacher that it holds frozen beside a student does not go on."""
        return any(p.requires_grad and p in self.parameters for p in held)


def parameters_of(owner: nn.Module) -> ById[Tensor, bool]:
    """The parameters of a module, weakly."""
    found: ById[Tensor, bool] = ById()
    for parameter in owner.parameters():
        found[parameter] = True
    return found


def setup_of(optimizer: Optimizer) -> tuple[str, float | None]:
    """Return its class and the learning rate it was built with."""
    lr = optimizer.defaults.get("lr")
    return type(optimizer).__name__, float(lr) if isinstance(lr, (int, float)) else None


def lr_of(optimizer: Optimizer) -> float | None:
    """The learning rate of its first group; None when it is a tensor on a device."""
    lr = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
    return float(lr) if isinstance(lr, (int, float)) else None


def data_of(loader: LoaderInfo) -> DataInUse:
    """What is known of a loader."""
    held = getattr(loader.loader(), "dataset", None)
    return DataInUse(loader.frame, loader.dataset_len(), settings_of(held))


def settings_of(dataset: object) -> frozenset[tuple[str, object]]:
    """The numbers and words that the constructor of a dataset was given."""
    try:
        given = inspect.signature(type(dataset).__init__).parameters
        held = {name: vars(dataset)[name] for name in given if name in vars(dataset)}
    except (TypeError, ValueError):
        return frozenset()
    return frozenset((name, value) for name, value in held.items() if isinstance(value, SETTING))


def same_data(before: DataInUse | None, now: DataInUse | None) -> bool | None:
    """Whether the loader was built by the same line over as many samples, with the same settings, as far as that is
    known: one that a loop held alone is gone when it is over, and with it its length. None without a loader at the
    save."""
    if before is None:
        return None
    if now is None or before.frame != now.frame:
        return False
    others = before.settings and now.settings and before.settings != now.settings
    return not others and (None in (before.length, now.length) or before.length == now.length)


def misplaced(now: list[str], saved: SavedState) -> tuple[str, ...]:
    """The parameters that stand where another one stood at the save: states are assigned by place."""
    before = next((order for order in saved.order if sorted(order) == sorted(now) and all(order)), None)
    return (
        tuple(f"{mine} <- {theirs}" for mine, theirs in zip(now, before, strict=True) if mine != theirs)[:8]
        if before
        else ()
    )
