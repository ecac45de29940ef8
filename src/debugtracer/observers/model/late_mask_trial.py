"""A trial of a model that is to say each of its own tokens from those before it: does the output at a position see the
token of that position, or a few after it, as with a causal mask that begins too late?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of
from debugtracer.observers.model.difference import CHANGED, distance, moved
from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel, line_of
from debugtracer.observers.model.token_trials import SHORTEST, is_varied, texts
from debugtracer.trace.number import number

SAMPLES = 4  # that are used (ours)
LONGEST = 2048  # positions of a text that is tried (ours)
REACHED = 0.9  # share of the later positions that a token reaches: the whole past is seen, no window (ours)
LATE = 4  # a mask is late by less than this part of the text before the token: else all is seen (ours)


def late_mask(shadow: ShadowModel, kept: RecordedCall, target: Tensor | None) -> dict[str, Any] | None:
    """What the change of one token in the middle reaches; None where the targets are not the tokens themselves, or it
    is not known in which dimension time lies. It is given the whole text: the first samples of a batch with time first
    are its first positions."""
    for tokens in texts(kept.args, kept.kwargs):
        if target is None or tokens.numel() != target.numel() or not torch.equal(tokens.flatten(), target.flatten()):
            continue
        if not is_varied(tokens.flatten()):
            continue
        found = [one for time in (1, 0) if (one := tried(shadow, kept, tokens, time)) is not None]
        return found[0] if len(found) == 1 else None
    return None


def tried(shadow: ShadowModel, kept: RecordedCall, tokens: Tensor, time: int) -> dict[str, Any] | None:
    """The same with time in this dimension; None where the model cannot be given so few samples."""
    try:
        return along(shadow, kept, tokens, time)
    except Exception:
        return None  # the user's model: it may want all samples, or as many in either dimension


def along(shadow: ShadowModel, kept: RecordedCall, tokens: Tensor, time: int) -> dict[str, Any] | None:
    """The same with time in this dimension; None where the samples of the other one are not apart, or the output has no
    such positions."""
    turned = tokens.movedim(time, 1)[:SAMPLES]
    batch, length = turned.shape
    if batch < 2 or not SHORTEST * 2 <= length <= LONGEST:
        return None

    def run(other: Tensor) -> tuple[Tensor | None, list[RecordedForward]]:
        given = other.movedim(1, time)
        args = tuple(given if value is tokens else value for value in kept.args)
        output, seen = shadow.run(args, {name: given if v is tokens else v for name, v in kept.kwargs.items()})
        return (None if output is None else by_time(output, batch, length, time)), seen

    base, seen = run(turned)
    if base is None or not apart(base, run(with_other(turned, slice(0, 1), slice(None)))[0]):
        return None
    place = length // 2
    output, now = run(with_other(turned, slice(None), slice(place, place + 1)))
    reach = reached(base, output) if output is not None else None
    if reach is None or not bool(reach.any()):
        return None
    first = int(reach.nonzero()[0])
    seen_all = bool(reach[place + 1 :].float().mean() >= REACHED)
    late = seen_all and first <= place and (place - first) * LATE < place
    size = number(distance(base[:, place], output[:, place]) or 0.0) if output is not None else 0.0
    return {"changed": late, "position": place, "length": place - first, "size": size} | (
        where(seen, now, batch, length, time, place) if late else {}
    )


def where(
    seen: list[RecordedForward], now: list[RecordedForward], batch: int, length: int, time: int, place: int
) -> dict[str, Any]:
    """The first module that gives another value there though it was given the same."""

    def part(value: Tensor) -> Tensor | None:
        turned = by_time(value, batch, length, time)
        return None if turned is None else turned[:, place]

    for a, b in zip(seen, now, strict=False):
        if a.name == b.name and moved(a.output, b.output, part) and same(a.given, b.given, part):
            stack = frames_of(line_of(b.inside) or b.line)
            return {"module": b.name or None, "frame": stack[0] if stack else None, "stack": stack}
    return {}


def same(a: Tensor | None, b: Tensor | None, part: Any) -> bool:
    """Whether what came in is known to be the same there."""
    size = distance(part(a), part(b)) if a is not None and b is not None and a.dim() else None
    return size is not None and size <= CHANGED


def by_time(value: Tensor, batch: int, length: int, time: int) -> Tensor | None:
    """An output as (batch, length, values) where it has the dimensions of the tokens, or one for all of them; None for
    any other."""
    sizes = (batch, length) if time == 1 else (length, batch)
    if value.dim() and value.shape[0] == batch * length:
        value = value.reshape(*sizes, -1)
    if value.dim() < 2 or value.shape[:2] != sizes:
        return None
    return value.movedim(time, 1)


def with_other(turned: Tensor, rows: slice, places: slice) -> Tensor:
    """The tokens with other ones of the same texts in these rows at these places."""
    other, pool = turned.clone(), turned.unique()
    here = turned[rows, places]
    rank = torch.searchsorted(pool, here.contiguous())
    other[rows, places] = pool[(rank + 1) % len(pool)]
    return other


def apart(base: Tensor, output: Tensor | None) -> bool:
    """Whether other tokens in the first sample change its outputs and those of no other."""
    if output is None or output.shape != base.shape:
        return False
    return (distance(base[1:], output[1:]) or 0.0) <= CHANGED < (distance(base[:1], output[:1]) or 0.0)


def reached(base: Tensor, output: Tensor) -> Tensor | None:
    """Which positions have another output."""
    if output.shape != base.shape:
        return None
    moves = (output.float() - base.float()).abs().flatten(2).amax(2).amax(0)
    return moves > CHANGED * float(base.float().std().clamp_min(1e-12))
