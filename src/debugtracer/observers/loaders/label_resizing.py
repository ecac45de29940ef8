"""Maps of ids that are resized by weighing neighbours: which pixels get an id that stands nowhere near them?"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.errors import guarded
from debugtracer.observers.model.shadow_model import is_dense

SMOOTH = frozenset({"linear", "bilinear", "bicubic", "trilinear", "area"})
RESAMPLES = {1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}
"""How PIL numbers those that weigh neighbours."""
FLAT = ("L", "P", "I", "F")
"""Modes of PIL with one value a pixel."""
DISTINCT = 64  # ids of a map (ours: more are values of a picture)
FEWEST = 64  # pixels of a map (ours)
ELEMENTS = 2**20  # of a map (ours)
THIN = 16  # pixels that lie between their neighbours in place and in value (ours)
ORDERED = 0.6  # share of borders between ids one apart (ours: 0.1 to 0.3 of classes, 0.75 and more of depths)
CLOSE = 1e-3  # of an id, which rounding may take away (ours)
SHOWN = 4
MOST_MERGED = 2  # names of a map, those that do not count among them: two are a threshold of a picture (ours)
WIDE = 0.2  # share of borders at which a third id stands between two others (ours: 0.44 weighed, 0.04 of the nearest)


class Resizing(NamedTuple):
    """One call that has resized a map of whole numbers."""

    function: str
    mode: str
    given: Tensor
    result: Tensor
    again: Callable[[Tensor], Tensor]
    """Resizes another map in the same way."""
    raw: RawFrames


class Stray(NamedTuple):
    """Pixels of a resized map."""

    pixels: int
    wrong: int
    ids: tuple[int, ...]


def interpolated(args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Resizing | None:
    """A call of F.interpolate that weighs neighbours of a map of a few whole numbers."""
    bound = inspect.signature(F.interpolate).bind(*args, **kwargs).arguments
    given, mode = bound.pop("input"), str(bound.get("mode", "nearest"))
    if mode not in SMOOTH or not isinstance(output, Tensor) or not is_map(given):
        return None

    def again(other: Tensor) -> Tensor:
        return F.interpolate(other.to(output.device, torch.float32), **bound)

    ids = given.detach().clone()
    return Resizing("interpolate", mode, ids, output.detach().clone(), again, raw_frames(2))


def is_map(given: Any) -> bool:
    """Whether a tensor without a graph holds one whole number a pixel, a few of them apart."""
    if not isinstance(given, Tensor) or given.requires_grad or not is_dense(given):
        return False
    return given.dim() > 2 and FEWEST <= given.numel() <= ELEMENTS and is_few(given)


def is_few(values: Tensor) -> bool:
    """Whether these are a few whole numbers, not all of them neighbours."""
    if values.is_floating_point() and not bool((values == values.round()).all()):
        return False
    ids = values.unique()
    return 1 < len(ids) <= DISTINCT and bool((ids >= 0).all()) and float(ids[-1] - ids[0]) > 1


class ResizeWatch(TorchFunctionMode):
    """Notes the maps that are resized while it is on the stack, by torch and by PIL; changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Resizing] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and note what it resizes."""
        output = function(*args, **(kwargs or {}))
        if getattr(function, "__name__", "") == "interpolate":
            self.note(interpolated, args, kwargs or {}, output)
        return output

    @guarded("label_resizing.note")
    def note(self, made: Callable[..., Resizing | None], *given: Any) -> None:
        """Keep one call, if it is one."""
        resizing = made(*given)
        if resizing is not None:
            self.seen.append(resizing)

    @contextlib.contextmanager
    def pictures(self) -> Iterator[None]:
        """Note Image.resize of this thread, too, for the with block."""
        kind: Any = getattr(sys.modules.get("PIL.Image"), "Image", None)
        if kind is None:
            yield
            return
        original, owner = kind.resize, get_ident()

        @functools.wraps(original)
        def resize(picture: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(picture, *args, **kwargs)
            if get_ident() == owner:
                self.note(picture_resized, original, picture, args, kwargs, result)
            return result

        kind.resize = resize
        try:
            yield
        finally:
            kind.resize = original


def picture_resized(
    resize: Callable[..., Any], picture: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Resizing | None:
    """A call of Image.resize that weighs neighbours of such a map."""
    numpy: Any = sys.modules["numpy"]
    if picture.mode not in FLAT:
        return None
    given = torch.from_numpy(numpy.array(picture))
    if not FEWEST <= given.numel() <= ELEMENTS or not is_few(given):
        return None
    chosen = args[1] if len(args) > 1 else kwargs.get("resample")
    mode = RESAMPLES.get(int(chosen), "nearest") if chosen is not None else "the default"

    def again(other: Tensor) -> Tensor:
        made: Any = sys.modules["PIL.Image"]
        whole = made.fromarray((other.numpy() * 255).astype("uint8"))
        return torch.from_numpy(numpy.array(resize(whole, *args, **kwargs)))

    return Resizing("Image.resize", mode, given, torch.from_numpy(numpy.array(result)), again, raw_frames(3))


def stray(resizing: Resizing, target: Tensor) -> Stray | None:
    """The pixels of a resized map whose id is none of those that they were made of; None unless the target holds pixels
    of that map and there are such."""
    if is_ordered(resizing.given):
        return None
    found = (strays(resizing, ids, ids) for ids in readings(resizing.result) if holds(ids, target))
    return next((one for one in found if one is not None), None)


def stray_renamed(resizing: Resizing, target: Tensor, ignored: int) -> Stray | None:
    """The same where the ids were given other names after they were resized, pixel for pixel: a pixel with the name of
    an id that reaches it is no stray one, nor is one that does not count."""
    if target.numel() != resizing.result.numel() or is_ordered(ranks(resizing.given)):
        return None
    names = target.to(resizing.result.device).long().reshape(resizing.result.shape)
    names = torch.where((names == ignored) | (names < 0), -1, names)
    if len(names.unique()) <= MOST_MERGED:
        return None
    found = (strays(resizing, ids, names) for ids in readings(resizing.result) if is_renamed(ids, names))
    return next((one for one in found if one is not None), None)


def readings(result: Tensor) -> tuple[Tensor, Tensor]:
    """The ids of a resized map: cut, and rounded."""
    return result.double().trunc().long(), result.double().round().long()


def ranks(ids: Tensor) -> Tensor:
    """Return the number of ids below each."""
    places: Tensor = ids.unique(return_inverse=True)[1]
    return places


def is_renamed(ids: Tensor, names: Tensor) -> bool:
    """Whether one name stands for each id, wherever it is."""
    pairs = torch.stack([ids.reshape(-1), names.reshape(-1)]).unique(dim=1)
    return bool(pairs.shape[1] == len(pairs[0].unique()))


def strays(resizing: Resizing, ids: Tensor, names: Tensor) -> Stray | None:
    """The pixels that no id of the map before reaches whose name they have."""
    result = resizing.result.double()
    nearest = result.round()
    close = (result - nearest).abs() < CLOSE
    allowed = torch.zeros_like(ids, dtype=torch.bool)
    for one in resizing.given.unique():
        alike = torch.isin(names, names[ids == one]) | (close & (nearest == one))
        allowed |= alike & (resizing.again(resizing.given == one) != 0)
    wrong = ~allowed & (names >= 0)
    if not bool(wrong.any()):
        return None
    told = names[wrong].unique(return_counts=True)
    often = told[0][told[1].argsort(descending=True)][:SHOWN]
    return Stray(ids.numel(), int(wrong.sum()), tuple(sorted(often.tolist())))


def is_ordered(ids: Tensor) -> bool:
    """Whether most borders lie between ids that follow one another, as heights and shares in steps do: a mean of two
    such ids is one of them."""
    steps = [ids.double().diff(dim=dim).abs() for dim in range(max(ids.dim() - 2, 0), ids.dim())]
    borders = sum(int((step > 0).sum()) for step in steps)
    return sum(int((step == 1).sum()) for step in steps) > ORDERED * borders


def holds(labels: Tensor, target: Tensor) -> bool:
    """Whether all ids of a target are there in a map, each at least as often: it may be a part of it."""
    flat = target.reshape(-1).to(labels.device)
    whole = labels[labels >= 0]
    if not FEWEST <= len(flat) <= len(whole):
        return False
    most = max(int(whole.max()), int(flat.max())) + 1
    if most > ELEMENTS:
        return False
    there, asked = (torch.bincount(v, minlength=most) for v in (whole, flat))
    return bool((asked <= there).all()) and int((asked > 0).sum()) > 1


def looks_weighed(maps: Tensor) -> bool:
    """Whether ids lie between those of their neighbours, in place and in value, more often than beyond them, as a mean
    of the two does; or, as ids may have other names since, at many borders a third one. Maps have the pixels last."""
    maps = maps.long()
    between = beyond = borders = pairs = thirds = 0
    for dim in range(max(maps.dim() - 2, 1), maps.dim()):
        if maps.shape[dim] < 3:
            continue
        a, b, c = (maps.narrow(dim, start, maps.shape[dim] - 2) for start in range(3))
        inside = ((a < b) & (b < c)) | ((a > b) & (b > c))
        third = (b != a) & (b != c) & (a != c)
        between += int(inside.sum())
        beyond += int(((b != a) & (b != c) & ~inside).sum())
        borders, pairs, thirds = borders + int((a != b).sum()), pairs + b.numel(), thirds + int(third.sum())
    return between >= THIN and (between > beyond or (thirds > WIDE * borders and 2 * borders < pairs))
