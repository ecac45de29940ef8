"""A trial of models that answer at each position of a sequence: in which direction does each answer read?"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.data.pairing import ROWS, Probe
from debugtracer.observers.data.row_features import as_columns, as_features
from debugtracer.observers.model.position_trials import swapped
from debugtracer.observers.model.shadow_model import ShadowModel, is_dense

SHORTEST = 8  # positions: with fewer the two ends meet (ours)
FURTHEST = 4  # positions from an end that are tried: what reads further has forgotten them (ours)
LEAST_GAIN = 0.1  # share of the targets' variance that their own positions explain more than the mirrored ones (ours)

Reading = Literal["mixed", "reversed", ""]


class FlipLog(TorchFunctionMode):
    """Keeps the last line that turned a sequence round."""

    def __init__(self) -> None:
        super().__init__()
        self.last: RawFrames = ()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and compare what it gives with what it was given first."""
        output = function(*args, **(kwargs or {}))
        given = args[0] if args else None
        if isinstance(given, Tensor) and isinstance(output, Tensor) and self.is_turned(given, output):
            self.last = raw_frames(2)
        return output

    @staticmethod
    def is_turned(given: Tensor, output: Tensor) -> bool:
        """Whether one is the other from its end to its begin, along one of its first two dimensions."""
        if given.shape != output.shape or given is output or torch.equal(given, output):
            return False
        along = [dim for dim in range(min(2, given.dim())) if given.shape[dim] >= SHORTEST]
        return any(torch.equal(given.flip(dim), output) for dim in along)


def reading_order(
    shadow: ShadowModel,
    whole: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    base: Tensor,
    target: Tensor | None,
) -> dict[str, Any] | None:
    """What changes with one position of a sequence at a time. `mixed`: an answer has seen the positions up to its own
    and as many at the other end, and nothing between; `reversed`: it has seen the other end alone, while the targets
    are told by the inputs at their own positions."""
    values = [*args, *kwargs.values()]
    found = [(n, v) for n, v in enumerate(values) if is_sequence(v, base)]
    if not found or target is None or len(found) > 1:
        return None
    number, given = found[0]
    everything = whole[number]
    if target.numel() % (everything.shape[0] * everything.shape[1]):
        return None
    how = direction(shadow, args, kwargs, given, base)
    if how == "reversed" and not told_in_place(everything, target):
        how = ""
    if not how:
        return None
    with FlipLog() as log:
        shadow.run(args, kwargs)
    frames = frames_of(log.last)
    return {
        "changed": True, "function": how, "length": int(given.shape[1]), "frame": frames[0] if frames else None,
    }  # fmt: skip


def is_sequence(value: Any, base: Tensor) -> bool:
    """Whether an argument has a row of numbers, or an id, at each position that has an answer."""
    if not isinstance(value, Tensor) or not is_dense(value) or value.dtype is torch.bool:
        return False
    whole = value.dim() == 3 if value.is_floating_point() else value.dim() == 2
    return whole and base.dim() > 1 and value.shape[:2] == base.shape[:2] and value.shape[1] >= SHORTEST


def direction(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], given: Tensor, base: Tensor
) -> Reading:
    """Which positions reach the answer at the first position, at one behind it, and at those as far from the end."""
    length = given.shape[1]
    step = min(FURTHEST, length // 4)
    reach: dict[int, list[bool]] = {}
    for place in (0, 1, step, step + 1, length - 2 - step, length - 1 - step, length - 2, length - 1):
        output, _ = shadow.run(*swapped(args, kwargs, given, with_other(given, place)))
        if output is None or output.shape != base.shape:
            return ""
        reach[place] = [not torch.equal(output[:, t], base[:, t]) for t in range(length)]
    near = [reach[0][0], reach[0][step], reach[step][step]]
    far = [reach[length - 1 - at][at] for at in (0, step)]
    between = [reach[at + 1][at] or reach[length - 2 - at][at] for at in (0, step)]
    back = [reach[0][length - 1], reach[step][length - 1 - step]]
    if any(between) or not all(far):
        return ""
    if all(near):
        return "mixed"
    return "reversed" if not any(near) and all(back) else ""


def with_other(given: Tensor, place: int) -> Tensor:
    """The sequences with other values at one position."""
    other = given.clone()
    here = other[:, place]
    if given.is_floating_point():
        here.add_(given.std())
    else:
        beside = given[:, place - 1]
        here.copy_(torch.where(beside == here, given.roll(1, 0)[:, place], beside))
    return other


def told_in_place(given: Tensor, target: Tensor) -> bool:
    """Whether the targets of positions are told by the inputs there, and more than by those as far from the end."""
    rows, length = given.shape[:2]
    features = as_features([given.reshape(rows * length, -1).cpu()])
    columns = as_columns(target.reshape(rows * length, -1).cpu())
    if features is None or not bool(columns.std(0).any()):
        return False
    some = torch.arange(rows * length)[:: -(-rows * length // ROWS)]
    mirrored = some // length * length + (length - 1 - some % length)
    here, there = (float(Probe(features[at]).explained(columns[some][..., None])[0]) for at in (some, mirrored))
    return here - max(there, 0.0) >= LEAST_GAIN
