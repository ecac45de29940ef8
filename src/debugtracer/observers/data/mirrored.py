"""Pictures by their middle: how one was turned against another, and which tensors of a batch lie over a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from debugtracer.observers.data.digest import readable

LEAST = 8  # pixels of a side (ours: fewer may be mirror images by chance)
SIDE = 64  # pixels of the middle that are compared (ours)
CHANNELS = (1, 3, 4)
FARTHEST = 8  # pixels between two cuts (ours: beyond it the middle is too small)
RESEMBLES, APART = 0.8, 0.15  # correlation of a picture with one that was turned, and above all other turns (ours)
SAME_CUT = 0.97  # correlation of two parts that are the same but for their brightness (ours)
TURNS: dict[str, Callable[[Tensor], Tensor]] = {
    "left to right": lambda picture: picture.flip(-1),
    "upside down": lambda picture: picture.flip(-2),
    "by half a turn": lambda picture: picture.flip(-2, -1),
    "by a quarter turn": lambda picture: picture.rot90(1, (-2, -1)),
    "by a quarter turn back": lambda picture: picture.rot90(-1, (-2, -1)),
    "along a diagonal": lambda picture: picture.mT,
    "along the other diagonal": lambda picture: picture.flip(-2, -1).mT,
}
BOX_TURNS = {"left to right": (True, False), "upside down": (False, True), "by half a turn": (True, True)}


def laid_out(leaf: Tensor) -> Tensor | None:
    """A batch of pictures or masks with height and width last; None for what is neither."""
    if not readable(leaf) or leaf.dim() < 3 or not leaf.shape[0] or leaf.is_complex():
        return None
    leaf = leaf.detach()
    if leaf.dim() == 4 and leaf.shape[-1] in CHANNELS and leaf.shape[1] not in CHANNELS:
        leaf = leaf.movedim(-1, 1)
    return leaf if min(leaf.shape[-2:]) >= LEAST else None


def middle(picture: Tensor) -> Tensor:
    """The middle of one picture, a copy: a square that mirroring and turning take to itself."""
    high, wide = picture.shape[-2:]
    side = min(high, wide, SIDE)
    if (high - side) % 2 or (wide - side) % 2:
        side -= 1
    if (high - side) % 2 or (wide - side) % 2:  # one side is odd, the other is not: no square has the same middle
        top, left = (high - side) // 2, (wide - side) // 2
        return picture[..., top : high - top, left : wide - left].clone()
    top, left = (high - side) // 2, (wide - side) // 2
    return picture[..., top : top + side, left : left + side].clone()


def turns_between(now: Tensor, before: Tensor) -> list[str]:
    """Every turn that takes one picture to another; the empty one where they are the same, none where they differ."""
    ways = [""] if alike(before, now) else []
    return ways + [how for how, turn in TURNS.items() if alike(turn(before), now)]


def turns_of_cuts(now: Tensor, before: Tensor) -> list[str]:
    """Every turn under which the middle of one picture lies in another, where each delivery cuts another part out."""
    if now.shape != before.shape or min(now.shape[-2:]) < 2 * LEAST or now.is_complex():
        return []
    inner = inside(now)
    high, wide = inner.shape[-2:]
    inner, found = inner.flatten(), []
    for how, turn in {"": lambda picture: picture, **TURNS}.items():
        turned = turn(before)
        if turned.shape == now.shape:
            places = turned.unfold(-2, high, 1).unfold(-2, wide, 1).movedim((-4, -3), (0, 1))
            if bool((places.flatten(2) == inner).all(-1).any()):
                found.append(how)
    return found


def cuts_seen(now: Tensor, before: Tensor) -> list[str]:
    """The same of cuts whose brightness is set anew, by what each shows: the one turn under which the middle of one
    picture resembles a part of another."""
    if now.shape != before.shape or min(now.shape[-2:]) < 2 * LEAST or now.is_complex():
        return []
    one, other = (part.detach().double().flatten(0, -3).mean(0) if part.dim() > 2 else part for part in (now, before))
    inner = inside(one)
    high, wide = inner.shape
    middle_of, ways = centred(inner), {}
    for how, turn in {"": lambda picture: picture, **TURNS}.items():
        turned = turn(other)
        if turned.shape == one.shape:
            parts = turned.unfold(0, high, 1).unfold(1, wide, 1).reshape(-1, high * wide).double()
            parts = parts - parts.mean(1, keepdim=True)
            ways[how] = float((parts @ middle_of / parts.norm(dim=1).clamp_min(1e-12)).max())
    first, second = sorted(ways, key=ways.__getitem__, reverse=True)[:2]
    return [first] if ways[first] >= SAME_CUT and ways[first] - ways[second] >= APART else []


def inside(picture: Tensor) -> Tensor:
    """What of a picture lies in another that was cut out at most `FARTHEST` pixels away."""
    high, wide = (side - 2 * min(side // 4, FARTHEST) for side in picture.shape[-2:])
    top, left = (picture.shape[-2] - high) // 2, (picture.shape[-1] - wide) // 2
    return picture[..., top : top + high, left : left + wide]


def turns_seen(now: Tensor, before: Tensor) -> list[str]:
    """The same of pictures whose colours are changed at each delivery: the one turn under which they are alike."""
    exact = turns_between(now, before)
    if exact or now.shape != before.shape or now.is_complex():
        return exact
    one = centred(now)
    turned = {"": before} | {how: turn(before) for how, turn in TURNS.items()}
    ways = {how: float(one @ centred(other)) for how, other in turned.items() if other.shape == now.shape}
    first, second = sorted(ways, key=ways.__getitem__, reverse=True)[:2]
    return [first] if ways[first] >= RESEMBLES and ways[first] - ways[second] >= APART else []


def centred(picture: Tensor) -> Tensor:
    """The values of a picture about their mean, of length 1."""
    flat = picture.detach().double().flatten()
    flat = flat - flat.mean()
    unit: Tensor = flat / flat.norm().clamp_min(1e-12)
    return unit


def box_turns_between(now: Tensor, before: Tensor, high: int, wide: int) -> list[str]:
    """Every mirroring that takes boxes to others, in pixels or shares of a picture of this size; the empty one where
    they are the same."""
    ways = [""] if alike(before, now) else []
    return ways + [how for how in BOX_TURNS if any(near(one, now) for one in turned_boxes(before, how, high, wide))]


def turned_boxes(boxes: Tensor, how: str, high: int, wide: int) -> Iterator[Tensor]:
    """Yield boxes mirrored with their picture, for each way to count its edges."""
    across, down = BOX_TURNS[how]
    for width, height in ((wide, high), (wide - 1, high - 1), (1, 1)):
        left, top, right, bottom = boxes.double().unbind(-1)
        if across:
            left, right = width - right, width - left
        if down:
            top, bottom = height - bottom, height - top
        yield torch.stack([left, top, right, bottom], -1)


def near(one: Tensor, now: Tensor) -> bool:
    """Whether boxes are the same but for rounding."""
    return one.shape == now.shape and torch.allclose(one, now.double(), rtol=1e-5, atol=1e-5)


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two have one shape and the same values."""
    return one.shape == other.shape and torch.equal(one, other)


def is_boxes(leaf: Tensor) -> bool:
    """Whether every row is one box, or boxes, as left, top, right and bottom edge."""
    if not readable(leaf) or leaf.dim() not in (2, 3) or leaf.shape[-1] != 4 or not leaf.numel() or leaf.is_complex():
        return False
    left, top, right, bottom = leaf.detach().double().unbind(-1)
    ordered = bool((left <= right).all()) and bool((top <= bottom).all()) and bool((left >= 0).all())
    return ordered and bool((top >= 0).all()) and bool((left < right).any())


def in_order(leaf: Tensor) -> bool:
    """Whether all four numbers of each row rise, as those of few boxes do: a cumulated rating, quantiles."""
    return bool((leaf.diff(dim=-1) >= 0).all())
