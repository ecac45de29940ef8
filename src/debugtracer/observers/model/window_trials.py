"""A trial of models that predict numbers from a window: is what they are to predict in the window?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.errors import guarded
from debugtracer.observers.model.difference import CHANGED, distance
from debugtracer.observers.model.fixed_draws import FixedDraws
from debugtracer.observers.model.position_trials import swapped
from debugtracer.observers.model.shadow_model import ShadowModel, is_dense
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import ELEMENTWISE

FEWEST_ROWS = 4  # of a batch (ours)
SHORTEST = 4  # positions of a window (ours)
FEWEST_VALUES = 8  # different numbers in the part that is in both: marks and counts meet by chance (ours)


class Answer:
    """The target of a loss of numbers, the lines that call it and those that made the batch it comes from."""

    def __init__(self, target: Tensor, stack: tuple[Frame, ...], batch: tuple[Link, ...]) -> None:
        self.target, self.stack, self.batch = target.detach().clone(), stack, batch

    @property
    def frame(self) -> Frame | None:
        """The line that calls the loss."""
        return self.stack[0] if self.stack else None

    def made(self) -> tuple[Frame, ...]:
        """The lines that wrote it: those of the loop where one of them cuts or computes it, else the loader's too."""
        links = argument_origin(self.stack, ELEMENTWISE, "target", 1)
        cut = any(link.kind in ("made", "formed") for link in links)
        return made_first(links if cut else (*links, *self.batch), cut=True)


class Answers:
    """Keeps the target of the first loss of numbers, and whether there is another: beside one, a loss that wants the
    input back is a lesson of its own."""

    def __init__(self, batches: BatchLog) -> None:
        self.batches = batches
        self.kept: list[Answer | None] = []

    def clear(self) -> None:
        """Release what was kept."""
        self.kept.clear()

    def keep(self, target: Tensor | None) -> None:
        """Take the target of a loss, None for one that is not to be read."""
        if len(self.kept) > 1:
            return
        found = self.batches.find(target) if target is not None else None
        links = (guarded("window_trials.batch")(found[0].loader.origin)(found[1]) or ()) if found else ()
        self.kept.append(Answer(target, user_frames(), links) if target is not None else None)

    def only(self) -> Answer | None:
        """The target, where there was no other loss of numbers."""
        return self.kept[0] if len(self.kept) == 1 else None


def target_window(
    shadow: ShadowModel | FixedDraws,
    whole: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    base: Tensor,
    target: Tensor | None,
) -> dict[str, Any] | None:
    """Look for positions of the target that are positions of the input, as far as its end: does the output there depend
    on them? Then a value is to be predicted that the model was given. One that predicts the next value and cannot see
    it is fine, and so is one that is to give its whole input back. `whole` are the arguments of the whole batch, those
    by name last; `argument` is which of them, where another one ends before them, or -1."""
    if target is None or target.dim() < 1 or not is_dense(target):
        return None
    given = (*args, *kwargs.values())
    for number, value in enumerate(whole):
        if not is_window(value, target):
            continue
        for channels in sides(value, target):
            found = overlap(value[..., channels] if value.dim() > 2 else value, target)
            if found is None:
                continue
            start, length = found
            common = min(length, value.shape[1] - start)
            place, changed = common // 2, given[number].clone()
            changed[:, start + place] += value.std()
            output, _ = shadow.run(*swapped(args, kwargs, given[number], changed))
            size = distance(there(base, target, place, length), there(output, target, place, length))
            if size is None:
                return None
            beside = number if any(ends_before(other, value, start) for other in whole) else -1
            told = {"changed": size > CHANGED, "position": start, "length": length, "common": common, "size": size}
            return told | {"argument": beside}
    return None


def ends_before(other: Any, value: Tensor, start: int) -> bool:
    """Whether an argument is a window of the same channels that ends at the position before `start` of this one."""
    if other is value or not isinstance(other, Tensor) or other.dtype != value.dtype or other.dim() != value.dim():
        return False
    rows = (other.shape[0], *other.shape[2:]) == (value.shape[0], *value.shape[2:])
    return rows and is_dense(other) and other.shape[1] >= SHORTEST and torch.equal(other[:, -1], value[:, start - 1])


def is_window(value: Any, target: Tensor) -> bool:
    """Whether an argument is a batch of windows of numbers, with the rows of the target."""
    return (
        isinstance(value, Tensor)
        and is_dense(value)
        and value.is_floating_point()
        and value.dim() in (2, 3)
        and value.shape[0] == target.shape[0] >= FEWEST_ROWS
        and value.shape[1] >= SHORTEST
        and value.device == target.device
        and target.dim() <= 3
    )


def sides(value: Tensor, target: Tensor) -> Iterator[slice]:
    """Yield the channels of the window that the target may be of: all, else its first or last ones."""
    if value.dim() < 3:
        yield slice(None)
        return
    wide = target.shape[-1] if target.dim() == 3 or (target.dim() == 2 and target.shape[1] == value.shape[2]) else 1
    yield slice(0, wide)
    if wide < value.shape[2]:
        yield slice(value.shape[2] - wide, None)


def overlap(window: Tensor, target: Tensor) -> tuple[int, int] | None:
    """Where in the window the target begins, and how many positions it has; None unless each position that both have is
    equal bit for bit, and they meet at the window's end."""
    held = window.reshape(window.shape[0], window.shape[1], -1).double()
    asked = as_positions(target, held.shape[2])
    if asked is None:
        return None
    asked = asked.double()
    equal = (held == asked[:, :1]).all(2).all(0)  # where the first position of the target stands
    for start in equal.nonzero().flatten().tolist():
        length = asked.shape[1]
        both = min(length, held.shape[1] - start)
        if start == 0 or start + length < held.shape[1]:
            continue
        if both < length and bool((held == asked[:, both : both + 1]).all(2).all(0).any()):
            continue  # what comes after the end is in the window too: it is turned round or rolled, not read ahead
        part = held[:, start : start + both]
        if torch.equal(part, asked[:, :both]) and part.unique().numel() >= min(FEWEST_VALUES, part.numel()):
            return int(start), int(length)
    return None


def as_positions(target: Tensor, width: int) -> Tensor | None:
    """The target as rows x positions x channels."""
    if target.dim() == 3:
        return target if target.shape[2] == width else None
    if target.dim() == 1:
        return target[:, None, None] if width == 1 else None
    if width > 1:
        return target[:, None] if target.shape[1] == width else None
    return target[..., None]


def there(output: Tensor | None, target: Tensor, place: int, positions: int) -> Tensor | None:
    """The output that is compared with one position of the target; None where their shapes differ."""
    if output is None or output.shape[0] == 0 or trimmed(output.shape[1:]) != trimmed(target.shape[1:]):
        return None
    return output if positions == 1 else output[:, place]


def trimmed(shape: torch.Size) -> tuple[int, ...]:
    """A shape without dimensions of 1 at its end."""
    sizes = list(shape)
    while sizes and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)
