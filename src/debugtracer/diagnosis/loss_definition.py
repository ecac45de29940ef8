"""Whether a loss that stood out is computed otherwise than in all steps before: with another factor or other weights,
by another criterion, or with a term that is new."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.recorder.tape.entry import Entry, Leaf, Slot
from debugtracer.recorder.tape.step_tape import Segment

WEIGHTS = 4096  # values of a tensor that may weigh a loss (ours: one for each class)
DEEP = 512  # calls of a loss that are followed (ours)
PLAIN = (bool, int, float, str)


class Redefined(NamedTuple):
    """One call of the loss that was not so before."""

    entry: Entry
    what: Literal["weights", "criterion", "term"]
    name: str
    """Of the attribute or the function."""


def calls_of_loss(tape: Segment) -> list[Entry]:
    """The calls between the models and the losses of a step: what is before the models is data."""
    found: dict[int, Entry] = {}
    waiting = [slot for _, slot in tape.losses if slot is not None and slot.segment == tape.number]
    while waiting and len(found) < DEEP:
        slot = waiting.pop()
        entry = tape.entries[slot.entry] if slot.entry < len(tape.entries) else None
        if entry is None or slot.entry in found or (entry.kind == "module" and learns(entry.function)):
            continue
        found[slot.entry] = entry
        waiting += [one for one in entry.references() if isinstance(one, Slot) and one.segment == tape.number]
    return [found[index] for index in sorted(found)]


def redefined(now: Segment, before: Sequence[Segment]) -> Redefined | None:
    """The first call of the loss that has other weights, is of another criterion, or was in none of the steps
    before."""
    calls = calls_of_loss(now)
    past = [{site_of(entry): entry for entry in calls_of_loss(tape)} for tape in before]
    for entry in calls:
        known = [seen[site] for seen in past if (site := site_of(entry)) in seen]
        if len(known) == len(past) and (name := reweighed(entry, known)):
            return Redefined(entry, "criterion" if name == type(entry.function).__name__ else "weights", name)
    new = [entry for entry in calls if entry.frames and all(site_of(entry) not in seen for seen in past)]
    usual = [entry for entry in calls if all(site_of(entry) in seen for seen in past)]
    lines = {site[0] for seen in past for site in seen}
    # a term that joins leaves others as they are, another criterion is called at the same line; where all lines are
    # new, another loop trains, and its rate may be wrong
    same = bool(usual) or any(entry.frames[0] in lines for entry in new)
    return Redefined(new[0], "term", name_of(new[0])) if new and same else None


def site_of(entry: Entry) -> tuple[Any, str]:
    """The line of a call and what it calls."""
    return (entry.frames[0] if entry.frames else None), name_of(entry)


def name_of(entry: Entry) -> str:
    """The function, or the class of the module."""
    return type(entry.function).__name__ if entry.kind == "module" else getattr(entry.function, "__name__", "")


def learns(module: nn.Module) -> bool:
    """Whether a module has parameters: a criterion has none as a rule."""
    return next(iter(module.parameters()), None) is not None


def reweighed(entry: Entry, known: Sequence[Entry]) -> str:
    """The name of what weighs this call and did not change in all those before; empty where nothing does."""
    if entry.kind == "module":
        return changed_setting(settings_of(entry.function), [settings_of(one.function) for one in known])
    given = dict(weights_of(entry))
    past = [dict(weights_of(one)) for one in known]
    for place, leaf in given.items():
        series = [one.get(place) for one in past]
        if all(one is not None for one in series) and is_news(leaf, [one for one in series if one is not None]):
            return place if isinstance(place, str) else name_of(entry)
    return ""


def weights_of(entry: Entry) -> Iterator[tuple[int | str, Leaf]]:
    """Yield the small tensors from outside that a call is given, without such as learn."""
    for place, value in (*enumerate(entry.args), *entry.kwargs.items()):
        if isinstance(value, Leaf) and not value.foreign and weighs(value.tensor):
            yield place, value


def weighs(tensor: Tensor) -> bool:
    """Whether a tensor may be the weights of a loss: a few numbers that are not learnt."""
    return 0 < tensor.numel() <= WEIGHTS and tensor.is_floating_point() and not tensor.requires_grad


def is_news(leaf: Leaf, past: Sequence[Leaf]) -> bool:
    """Whether a tensor has other values than one that was the same in all steps before. Waits for the device."""
    first = past[0]
    same = all(one.tensor is first.tensor and one.version == first.version for one in past)
    same = same or all(is_equal(one.tensor, first.tensor) for one in past)
    if not same:
        return False
    if leaf.tensor is first.tensor:
        return leaf.version != first.version
    return leaf.tensor.shape == first.tensor.shape and not is_equal(leaf.tensor, first.tensor)


def is_equal(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers."""
    if a is b:
        return True
    return a.shape == b.shape and a.device == b.device and bool(torch.equal(a.detach(), b.detach()))


def settings_of(module: nn.Module) -> dict[str, Any]:
    """The class of a criterion, its numbers and its small tensors, by name."""
    held = {**vars(module), **module._buffers}
    found: dict[str, Any] = {
        name: value
        for name, value in held.items()
        if not name.startswith("_") and name != "training" and isinstance(value, (*PLAIN, Tensor))
    }
    small = {n: v for n, v in found.items() if not isinstance(v, Tensor) or v.numel() <= WEIGHTS}
    return {"": type(module).__name__, **small}


def changed_setting(now: dict[str, Any], past: Sequence[dict[str, Any]]) -> str:
    """The name of a setting that was the same in all steps before and is another now; the class where that is."""
    for name, value in now.items():
        before = [one[name] for one in past if name in one]
        if len(before) == len(past) and all(alike(one, before[0]) for one in before) and not alike(value, before[0]):
            return name or str(value)
    return ""


def alike(a: Any, b: Any) -> bool:
    """Whether two settings are equal."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return isinstance(a, Tensor) and isinstance(b, Tensor) and is_equal(a, b)
    return bool(a == b)
