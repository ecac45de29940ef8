"""A trial of models whose rows exchange what they know, as the nodes of a graph: does a row see its own input?"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.model.difference import CHANGED, distance
from debugtracer.observers.model.position_trials import swapped
from debugtracer.observers.model.recorded_call import RecordedCall
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel, is_dense, line_of

FEWEST_ROWS = 8  # of a model's input (ours)
TRIED, NEEDED = 8, 5  # rows that are changed, one at a time, and those that must reach others and not themselves (ours)
GIVEN = 0.5  # share of the answers that are numbers of the input (ours)
ALIKE = 0.99  # correlation of an answer with a column of the input (ours)
SLOW_S = 0.25  # a first run that takes longer is the last (ours)


class LinkedRows(NamedTuple):
    """The argument whose rows exchange what they know, and the one that says which do."""

    value: Tensor
    dim: int
    links: int
    """Its place among all arguments; -1 for a buffer."""


def own_row(
    shadow: ShadowModel, kept: RecordedCall, target: Tensor | None, answer: Tensor | None
) -> Iterator[dict[str, Any] | None]:
    """Make all rows of the input alike and one of them another, so that it is its own value that counts and not how a
    row weighs those of others: the first modules that hand rows to others hand no row to itself, and no other way leads
    around them. Yields nothing between the runs, and what was found at last."""
    found = rows_of(shadow, kept)
    if found is None:
        return
    begin = perf_counter()
    base, _ = shadow.run(kept.args, kept.kwargs)
    if perf_counter() - begin > SLOW_S or base is None or not has_lesson(found, base, target, answer):
        return
    yield None
    alike = found.value.select(found.dim, 0).unsqueeze(found.dim).expand_as(found.value).clone()
    level, seen = shadow.run(*swapped(kept.args, kept.kwargs, found.value, alike))
    yield None
    again, _ = shadow.run(*swapped(kept.args, kept.kwargs, found.value, alike))
    if level is None or again is None or not torch.equal(level, again) or not bool(torch.isfinite(level).all()):
        return
    blind, held, mixer, last = 0, set[str](), None, alike
    for number, row in enumerate(torch.linspace(1, found.value.shape[found.dim] - 1, TRIED).long().tolist()):
        yield None
        other = with_row(found, alike, row)
        if other is None or number - blind > TRIED - NEEDED:
            return
        _, now = shadow.run(*swapped(kept.args, kept.kwargs, found.value, other))
        mixers = first_mixers(seen, now, found, row)
        if not mixers or any(differs(one.before, one.after, found.dim, row) for one in mixers):
            continue
        blind, mixer, last = blind + 1, mixers[0], other
        held |= {one.name for one in mixers}
    if mixer is None or blind < NEEDED or leads_around(shadow, kept, found, (alike, last), held):
        return
    frames = frames_of(mixer.line) if held != {""} else kept.stack
    yield {
        "changed": True, "position": blind, "length": TRIED, "common": found.value.shape[found.dim],
        "module": sorted(held)[0] or None, "frame": frames[0] if frames else None, "made": links_made(kept, found),
    }  # fmt: skip


class Mixer(NamedTuple):
    """A module whose input has changed in one row, and whose output in others."""

    name: str
    before: Tensor
    after: Tensor
    line: RawFrames


def rows_of(shadow: ShadowModel, kept: RecordedCall) -> LinkedRows | None:
    """The argument with rows that others are linked to: a square matrix of that size, or pairs of places."""
    whole = kept.whole()
    for value in whole:
        if not isinstance(value, Tensor) or not is_dense(value) or not value.is_floating_point() or value.dim() < 2:
            continue
        for dim in (0, 1) if value.dim() > 2 else (0,):
            size = value.shape[dim]
            if size < FEWEST_ROWS:
                continue
            for place, links in enumerate(whole):
                if links is not value and isinstance(links, Tensor) and are_links(links, size, dim):
                    return LinkedRows(value, dim, place)
            if any(are_links(buffer, size, dim) for buffer in shadow.model.buffers()):
                return LinkedRows(value, dim, -1)
    return None


def are_links(links: Tensor, size: int, dim: int) -> bool:
    """Whether a tensor says which rows are linked."""
    if links.dim() >= 2 and links.shape[-1] == links.shape[-2] == size:
        return True
    pairs = links.dtype in (torch.int64, torch.int32) and links.dim() == 2 and links.shape[0] == 2 and dim == 0
    return pairs and is_dense(links) and int(links.min()) >= 0 and size // 2 <= int(links.max()) < size


def has_lesson(found: LinkedRows, base: Tensor, target: Tensor | None, answer: Tensor | None) -> bool:
    """Whether each row has an output with an answer that is not its input, nor a class that is: one who is to say what
    a hidden row was may not look at it."""
    rows = found.value.shape[found.dim]
    if base.dim() <= found.dim or base.shape[found.dim] != rows:
        return False
    if target is not None:
        one_hot = found.value.shape[-1] == base.shape[-1] and bool(((found.value == 0) | (found.value == 1)).all())
        return target.numel() > 1 and not one_hot
    if answer is None or answer.numel() < rows // 4 or not answer.is_floating_point():
        return False
    given = float(torch.isin(answer.to(found.value.dtype), found.value).float().mean()) >= GIVEN
    return not given and not is_scaled(answer, found.value)


def is_scaled(answer: Tensor, value: Tensor) -> bool:
    """Whether a column of the answers is one of the input in another unit."""
    rows = value.numel() // value.shape[-1]
    if answer.numel() % rows:
        return False
    columns = [part.reshape(rows, -1).double() for part in (answer, value)]
    asked, given = [(part - part.mean(0)) / part.std(0).clamp_min(1e-12) for part in columns]
    return bool(((asked.T @ given).abs() / (rows - 1)).amax() > ALIKE)


def with_row(found: LinkedRows, alike: Tensor, row: int) -> Tensor | None:
    """The input with all rows alike but for one, which is as it was, or as another was; None where all were alike."""
    value, size = found.value, found.value.shape[found.dim]
    for place in (row, size // 2, size // 3, size - 1):
        mine = value.select(found.dim, place)
        if not torch.equal(mine, alike.select(found.dim, row)):
            other = alike.clone()
            other.select(found.dim, row).copy_(mine)
            return other
    return None


def first_mixers(seen: list[RecordedForward], now: list[RecordedForward], found: LinkedRows, row: int) -> list[Mixer]:
    """The outermost modules inside the model, or itself, that were given a change of this row alone and gave others."""
    mixers: list[Mixer] = []
    for a, b in zip(seen, now, strict=False):
        if a.name != b.name or not is_row_change(a.given, b.given, found.dim, row):
            continue
        if not others_differ(a.output, b.output, found, row):
            continue
        if a.name:
            mixers = [one for one in mixers if not one.name.startswith(f"{a.name}.")]
        if a.name or not mixers:
            mixers.append(Mixer(a.name, a.output, b.output, line_of(b.inside) or b.line))
    return mixers


def is_row_change(before: Tensor | None, after: Tensor | None, dim: int, row: int) -> bool:
    """Whether two inputs differ in one row and nowhere else."""
    if before is None or after is None or before.shape != after.shape or before.dim() <= dim:
        return False
    if before.shape[dim] <= row or not differs(before, after, dim, row):
        return False
    return int((before != after).transpose(0, dim).flatten(1).any(1).sum()) == 1


def others_differ(before: Tensor, after: Tensor, found: LinkedRows, row: int) -> bool:
    """Whether the outputs of rows have changed that are not this one."""
    if before.shape != after.shape or before.dim() <= found.dim:
        return False
    if before.shape[found.dim] != found.value.shape[found.dim]:
        return False
    keep = [place for place in range(before.shape[found.dim]) if place != row]
    where = torch.tensor(keep, device=before.device)
    return (distance(before.index_select(found.dim, where), after.index_select(found.dim, where)) or 0.0) > CHANGED


def differs(before: Tensor, after: Tensor, dim: int, row: int) -> bool:
    """Whether the output of one row has changed."""
    return (distance(before.select(dim, row), after.select(dim, row)) or 0.0) > CHANGED


def leads_around(
    shadow: ShadowModel, kept: RecordedCall, found: LinkedRows, inputs: tuple[Tensor, Tensor], held: set[str]
) -> bool:
    """Whether the output changes though these modules give what they gave before: then a row sees itself beside
    them."""
    if held == {""}:
        return False
    before: dict[str, Tensor] = {}
    modules = [(name, module) for name, module in shadow.model.named_modules() if name in held]
    if len(modules) < len(held):
        return True

    def hook(name: str) -> Any:
        def give(module: nn.Module, args: Any, output: Any) -> Any:
            if name not in before:
                before[name] = output
                return None
            return before[name]

        return give

    hooks = [module.register_forward_hook(hook(name)) for name, module in modules]
    try:
        first, second = (shadow.run(*swapped(kept.args, kept.kwargs, found.value, rows))[0] for rows in inputs)
    finally:
        for one in hooks:
            one.remove()
    return first is None or second is None or not torch.equal(first, second)


def links_made(kept: RecordedCall, found: LinkedRows) -> Any:
    """The lines that made the argument with the links."""
    name = kept.names()[found.links] if found.links >= 0 else ""
    if not name:
        return ()
    place = found.links if found.links < len(kept.args) else 99
    return made_first(argument_origin(kept.stack, (bound_name(kept.module),), name, place))
