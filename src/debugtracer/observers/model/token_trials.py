"""Trials of models that predict tokens: may an output see the tokens after it, or the very token it is to predict?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of
from debugtracer.observers.model.difference import CHANGED, difference, distance
from debugtracer.observers.model.mixing_call import mixing_call
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel, is_dense

# share of targets that are the next token, or the token itself (ours: documents are joined, some targets are masked)
SHIFTED = 0.95
SHORTEST = 4  # tokens of a text that is tried
FEWEST = 8  # targets that are compared with tokens (ours: short texts are mostly padding)
FURTHEST = 4  # tokens that a target may stand further on (ours: an index is off by one or two)


def later_tokens(
    shadow: ShadowModel,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    base: Tensor,
    seen: list[RecordedForward],
    target: Tensor | None,
) -> dict[str, Any] | None:
    """A model that predicts the next token may not see it: change all tokens from the middle on."""
    if target is None:
        return None
    found = [(v, c) for v in texts(args, kwargs) if (c := next_token(v, target)) is not None]
    if not found:
        return None
    tokens, counted = found[-1]  # of a source and what is to be a copy of it, the model may see all of the source
    batch, length = tokens.shape
    place = length // 2
    if not bool(counted[:, :place].any()):
        return None
    changed = with_other(args, kwargs, tokens, slice(place, None))
    output, now = shadow.run(*changed)
    if output is None:
        return None

    def early(value: Tensor) -> Tensor | None:
        rows = by_position(value, batch, length)
        # the model may cut the last token off itself
        rows = by_position(value, batch, length - 1) if rows is None else rows
        return None if rows is None else rows[:, :place][counted[:, :place]]

    if early(output) is None or is_ambiguous(output, batch, length):
        return None

    told = difference(base, output, seen, now, early) | {"position": place}
    if told["changed"] and (call := mixing_call(shadow, (args, kwargs), changed, tokens, place)) is not None:
        frames = frames_of(call.raw)
        told |= {"function": call.name, "module": call.path or told["module"], "stack": frames}
        told["frame"] = frames[0] if frames else None
    return told


def own_token(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], base: Tensor, target: Tensor | None
) -> dict[str, Any] | None:
    """The target of a position is the token at that position, and the model reads from left to right: it copies, and
    never predicts."""
    for tokens in texts(args, kwargs) if target is not None else ():
        batch, length = tokens.shape
        if not same_token(tokens, target) or by_position(base, batch, length) is None:  # type: ignore[arg-type]
            continue
        place = length // 2
        later, _ = shadow.run(*with_other(args, kwargs, tokens, slice(place, None)))
        only, _ = shadow.run(*with_other(args, kwargs, tokens, slice(place, place + 1)))
        if later is None or only is None:
            continue
        first, early, own = (by_position(value, batch, length) for value in (base, later, only))
        if first is None or early is None or own is None:
            continue
        causal = (distance(first[:, :place], early[:, :place]) or 0.0) <= CHANGED
        size = distance(first[:, place], own[:, place]) or 0.0
        copies = causal and size > CHANGED and are_rows_apart(shadow, args, kwargs, base, tokens)
        return {"changed": copies, "position": place, "size": size}
    return None


def are_rows_apart(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], base: Tensor, tokens: Tensor
) -> bool:
    """Whether other tokens in the first row change no other row: with time first the rows are the positions, and what
    was taken for a position is a sample."""
    batch, length = tokens.shape
    other = torch.cat([tokens[:1].roll(1, 1), tokens[1:]])
    other[0] = torch.where(other[0] == tokens[0], tokens[-1], other[0])
    given = [other if value is tokens else value for value in args]
    output, _ = shadow.run(tuple(given), {name: other if value is tokens else value for name, value in kwargs.items()})
    before, after = by_position(base, batch, length), None if output is None else by_position(output, batch, length)
    if before is None or after is None:
        return False
    return batch == 1 or (distance(before[1:], after[1:]) or 0.0) <= CHANGED


def shifted_token(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], base: Tensor, target: Tensor | None
) -> dict[str, Any] | None:
    """The target of a position is the token two or more further on, and the model reads from left to right: it never
    learns to say the next one."""
    for tokens in texts(args, kwargs) if target is not None else ():
        batch, length = tokens.shape
        shift = further_token(tokens, target)  # type: ignore[arg-type]
        if not shift or by_position(base, batch, length) is None:
            continue
        place = length // 2
        later, _ = shadow.run(*with_other(args, kwargs, tokens, slice(place, None)))
        first, early = by_position(base, batch, length), None if later is None else by_position(later, batch, length)
        if first is None or early is None:
            continue
        causal = (distance(first[:, :place], early[:, :place]) or 0.0) <= CHANGED
        return {"changed": causal, "position": shift}
    return None


def texts(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    """Yield inputs of the form (batch, length) that may be tokens; labels are none."""
    given = [*((None, v) for v in args), *kwargs.items()]
    for name, value in given:
        whole = (
            isinstance(value, Tensor)
            and is_dense(value)
            and value.dim() == 2
            and not value.is_floating_point()
            and value.dtype != torch.bool
        )
        if whole and value.shape[1] >= SHORTEST and "label" not in (name or "") and int(value.min()) >= 0:
            yield value


def with_other(
    args: tuple[Any, ...], kwargs: dict[str, Any], tokens: Tensor, where: slice
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with other tokens of the same batch at these positions: all are valid there, also where the model
    takes its targets from them."""
    other = tokens.clone()
    here = tokens[:, where]
    pool, part = here.flatten(), here
    if bool((pool == pool[0]).all()):
        pool = tokens.flatten()
    for shift in (1, here.shape[1] // 2 + 1, here.shape[1], tokens.shape[1]):
        swapped = pool.roll(shift)[: here.numel()].reshape(here.shape)
        part = torch.where(part == here, swapped, part)
    other[:, where] = part
    return tuple(other if v is tokens else v for v in args), {k: other if v is tokens else v for k, v in kwargs.items()}


def by_position(value: Tensor, batch: int, length: int) -> Tensor | None:
    """The output as (batch, length, ...); None when it has no positions."""
    if value.shape[:2] == (batch, length):
        return value
    if value.shape[:2] == (length, batch):
        return value.transpose(0, 1)
    if value.dim() > 2 and value.shape[0] == batch and value.shape[-1] == length:
        return value.transpose(1, -1)
    return value.reshape(batch, length, -1) if value.dim() and value.shape[0] == batch * length else None


def is_ambiguous(value: Tensor, batch: int, length: int) -> bool:
    """Whether two dimensions of an output may be its positions: as many classes as tokens, or one fewer."""
    if value.dim() < 3 or value.shape[0] != batch:
        return False
    return sum(value.shape[dim] in (length, length - 1) for dim in (1, value.dim() - 1)) > 1


def same_token(tokens: Tensor, target: Tensor) -> bool:
    """True if nearly all targets of these samples are the tokens themselves."""
    batch, length = tokens.shape
    if target.numel() % length or target.numel() // length < batch:
        return False
    wanted = target.reshape(-1, length)[:batch]
    counts = wanted >= 0
    return int(counts.sum()) >= FEWEST and float((wanted == tokens)[counts].float().mean()) >= SHIFTED


def further_token(tokens: Tensor, target: Tensor) -> int:
    """How many tokens further on the targets of these samples are, 2 or more; 0 where they are something else, or the
    next token as well (a text of one token over and over)."""
    batch, length = tokens.shape
    if target.numel() % length or target.numel() // length < batch:
        return 0
    wanted = target.reshape(-1, length)[:batch]

    def share(shift: int) -> float:
        pairs, follows = wanted[:, : length - shift], tokens[:, shift:]
        counts = (pairs >= 0) & (wanted[:, shift:] >= 0)  # the text goes on so far: no padding follows
        return float((pairs == follows)[counts].float().mean()) if int(counts.sum()) >= FEWEST else 0.0

    if max(share(0), share(1)) >= SHIFTED:
        return 0
    return next((shift for shift in range(2, min(FURTHEST, length // 2) + 1) if share(shift) >= SHIFTED), 0)


def next_token(tokens: Tensor, target: Tensor) -> Tensor | None:
    """Which positions of these samples have the next token as target; None when the targets are something else. The
    targets of some positions alone are those of the last ones (a history comes before them), or of the first."""
    length = tokens.shape[1]
    for given in (length, length - 1):
        if (counts := next_from(tokens, target, given, 0)) is not None:
            return counts
    for given in range(FEWEST, length - 1):
        for begin in (length - given, length - given - 1, 0):
            counts = next_from(tokens, target, given, begin)
            if counts is not None and is_varied(tokens[:, 1:][counts[:, :-1]]):
                return counts
    return None


def next_from(tokens: Tensor, target: Tensor, given: int, begin: int) -> Tensor | None:
    """The same where each sample has `given` targets, those of the positions from `begin` on."""
    batch, length = tokens.shape
    if target.numel() % given or target.numel() // given < batch:
        return None
    wanted = target.reshape(-1, given)[:batch, : length - 1 - begin]
    follows = tokens[:, begin + 1 : begin + 1 + wanted.shape[1]]
    counts = wanted >= 0
    if not bool(counts.any()) or float((wanted == follows)[counts].float().mean()) < SHIFTED:
        return None
    full = torch.zeros_like(tokens, dtype=torch.bool)
    full[:, begin : begin + wanted.shape[1]] = counts
    return full


def is_varied(tokens: Tensor) -> bool:
    """Whether these are enough tokens, and not nearly all one: labels of one class are no padding."""
    return len(tokens) >= FEWEST and float((tokens == tokens.mode().values).float().mean()) < SHIFTED
