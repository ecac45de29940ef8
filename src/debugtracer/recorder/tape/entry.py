"""One call of the training loop on the tape, and how its tensors are referred to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from debugtracer.devices.present import accelerator
from debugtracer.recorder.state.rng import RngState

any_autocast: Any = getattr(torch._C, "_is_any_autocast_enabled", lambda: True)

HALF = (torch.float16, torch.bfloat16)
Kind = Literal["fn", "const", "module", "backward", "clip", "unscale", "zero_grad", "step"]
# a tensor asked for its `data` would run an op
PLAIN = (int, float, str, bool, type(None), torch.dtype, torch.device, complex, bytes, Tensor)
# what most arguments are, by their very class: kept as they are without a look at what they might hold
ATOMS = frozenset({*PLAIN, type(Ellipsis), torch.Size, torch.layout, torch.memory_format, torch.Generator} - {Tensor})
TENSORS = frozenset({Tensor, torch.nn.Parameter})
NONE_SWAPPED: dict[str, Any] = {}  # of nearly all entries; never written to


class Slot:
    """A tensor that an earlier entry of the tape made: replayed, never stored."""

    __slots__ = ("entry", "output", "segment")

    def __init__(self, segment: int, entry: int, output: int) -> None:
        self.segment, self.entry, self.output = segment, entry, output


class Leaf:
    """A tensor from outside the tape (batch, parameter, hidden state), held by reference with its version."""

    __slots__ = ("asked_grad", "foreign", "lost", "origin", "saved", "tensor", "version")

    def __init__(self, tensor: Tensor, origin: Slot | None = None, foreign: bool = False) -> None:
        self.tensor = tensor
        self.version = tensor._version if not tensor.is_inference() else 0
        self.saved: Tensor | None = None
        """A copy taken just before an in-place op of the loop hit it."""
        self.lost = False
        """Changed in place where the tape could not copy it first."""
        self.origin = origin
        """Where an older segment of the tape made it."""
        self.foreign = foreign
        """Has a graph that no recorded call made."""

    def save(self) -> None:
        """Copy it as it is, before it is written: with the graph of what is written it may ask for a gradient after."""
        self.saved, self.asked_grad = self.tensor.detach().clone(), self.tensor.requires_grad

    @property
    def moved(self) -> bool:
        """True when its bytes are no longer those the step read and no copy is at hand. Parameters are restored by
        other means."""
        if self.saved is not None or isinstance(self.tensor, torch.nn.Parameter):
            return False
        return self.lost or (not self.tensor.is_inference() and self.tensor._version != self.version)


class Entry:
    """One recorded call. `args`/`kwargs` hold Slot and Leaf in place of tensors; `frames` are raw (code, line) pairs of
    the user's stack."""

    # what most calls leave as it is stands in the class: a call on the tape costs microseconds
    segment = 0
    index = 0
    autocast: tuple[tuple[str, torch.dtype], ...] = ()
    rng: RngState | None = None
    outputs = 0
    sides: tuple[tuple[Any, str, Any], ...] = ()
    """Tensors a module left in its attributes: (module, attribute, key from the end, or None); numbered after the
    outputs."""
    swapped: dict[str, Any] = NONE_SWAPPED
    """Tensors that functional_call put in place of the module's parameters, by their names."""
    settings: Sequence[dict[str, Any]] = ()
    """For kind step: the settings of each group of the optimizer, without its parameters."""
    scalar = False
    """Every tensor it gave holds one number."""

    def __init__(self, kind: Kind, function: Any, args: Any, kwargs: Any, frames: Any) -> None:
        self.kind: Kind = kind
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.frames = frames
        self.grad = torch.is_grad_enabled()
        if any_autocast():
            self.autocast = autocast_state()

    def add_side(self, side: tuple[Any, str, Any]) -> Slot:
        """Return the slot of a tensor that the module left in an attribute, now numbered."""
        self.sides = (*self.sides, side)
        return Slot(self.segment, self.index, self.outputs + len(self.sides) - 1)

    def copy_inputs(self) -> None:
        """Copy the inputs of a module that changes them in place, before it runs."""
        for reference in self.references():
            if (
                isinstance(reference, Leaf)
                and reference.saved is None
                and not isinstance(reference.tensor, torch.nn.Parameter)
            ):
                reference.save()

    def references(self) -> Iterator[Slot | Leaf]:
        """Every tensor it takes."""
        yield from references((self.args, self.kwargs, self.swapped))


def autocast_state() -> tuple[tuple[str, torch.dtype], ...]:
    """The devices with autocast on and their dtype; empty in most steps."""
    used = accelerator()
    kinds = ("cpu",) if used is None else ("cpu", used.kind)
    return tuple((kind, torch.get_autocast_dtype(kind)) for kind in kinds if torch.is_autocast_enabled(kind))


def encoded_items(items: Any, visit: Callable[[Tensor], Any], depth: int = 6) -> list[Any]:
    """The items of a tuple or list with visit(tensor) in place of each tensor: as `mapped`, but quick where they are
    what most calls take."""
    found = []
    for value in items:
        kind = type(value)
        if kind in TENSORS:
            found.append(visit(value))
        elif kind in ATOMS:
            found.append(value)
        elif kind is tuple and depth > 1:
            found.append(tuple(encoded_items(value, visit, depth - 1)))
        elif kind is slice and {type(value.start), type(value.stop), type(value.step)} <= ATOMS:
            found.append(value)
        else:
            found.append(mapped(value, visit, (Tensor,), depth - 1))
    return found


def mapped(value: Any, visit: Callable[[Any], Any], over: tuple[type, ...], depth: int = 6) -> Any:
    """Replace every member of the types `over` by visit(member); containers are rebuilt, other objects kept."""
    if isinstance(value, over):
        return visit(value)
    if isinstance(value, PLAIN) or depth == 0:
        return value
    if isinstance(value, (list, tuple)):
        items = [mapped(v, visit, over, depth - 1) for v in value]
        if isinstance(value, torch.Size):
            return value
        # a namedtuple's; PackedSequence's own constructor would read its tensors
        make: Any = getattr(type(value), "_make", type(value))
        return make(items)
    if isinstance(value, dict):
        return mapped_dict(value, visit, over, depth)
    if isinstance(value, slice):
        return slice(*(mapped(v, visit, over, depth - 1) for v in (value.start, value.stop, value.step)))
    # UserDict, as Hugging Face's BatchEncoding
    if isinstance(getattr(value, "data", None), dict):
        return type(value)(mapped_dict(value.data, visit, over, depth))
    if is_dataclass(value) and not isinstance(value, type) and all(f.init for f in fields(value)):
        return type(value)(**{f.name: mapped(getattr(value, f.name), visit, over, depth - 1) for f in fields(value)})
    return value


def mapped_dict(
    value: dict[Any, Any], visit: Callable[[Any], Any], over: tuple[type, ...], depth: int
) -> dict[Any, Any]:
    """A dict (or a subclass built from keywords, as ModelOutput) with its values mapped."""
    items = {k: mapped(v, visit, over, depth - 1) for k, v in value.items()}
    if type(value) is dict:
        return items
    try:
        return type(value)(**items) if is_dataclass(value) else type(value)(items)
    except TypeError:
        return items


def references(value: Any, depth: int = 7) -> Iterator[Slot | Leaf]:
    """Every Slot and Leaf inside an encoded value."""
    if isinstance(value, (Slot, Leaf)):
        yield value
    elif isinstance(value, PLAIN) or depth == 0:
        return
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from references(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from references(item, depth - 1)
    elif isinstance(value, slice):
        yield from references((value.start, value.stop, value.step), depth)
    elif isinstance(getattr(value, "data", None), dict):
        yield from references(value.data, depth)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from references(getattr(value, field.name), depth - 1)


def tensors(value: Any, depth: int = 6) -> Iterator[Tensor]:
    """Every tensor of an output, in a fixed order: the numbering of slots."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, PLAIN) or depth == 0:
        return
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item, depth - 1)
    elif isinstance(getattr(value, "data", None), dict):
        yield from tensors(value.data, depth)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from tensors(getattr(value, field.name, None), depth - 1)
