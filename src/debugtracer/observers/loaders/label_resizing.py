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
    result = resizing.result.double()
    nearest = result.round()
    close = (result - nearest).abs() < CLOSE
    for labels in (result.trunc().long(), nearest.long()):
        if not holds(labels, target):
            continue
        allowed = torch.zeros_like(labels, dtype=torch.bool)
        for one in resizing.given.unique():
            allowed |= ((labels == one) | (close & (nearest == one))) & (resizing.again(resizing.given == one) != 0)
        wrong = ~allowed & (labels >= 0)
        if bool(wrong.any()):
            ids = labels[wrong].unique(return_counts=True)
            often = ids[0][ids[1].argsort(descending=True)][:SHOWN]
            return Stray(labels.numel(), int(wrong.sum()), tuple(sorted(often.tolist())))
    return None


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
    """Whether ids lie between those of their neighbours, in place and in value, more often than beyond them: as a mean
    of the two does. Maps have the pixels last."""
    maps = maps.long()
    between = beyond = 0
    for dim in range(max(maps.dim() - 2, 1), maps.dim()):
        if maps.shape[dim] < 3:
            continue
        a, b, c = (maps.narrow(dim, start, maps.shape[dim] - 2) for start in range(3))
        inside = ((a < b) & (b < c)) | ((a > b) & (b > c))
        between += int(inside.sum())
        beyond += int(((b != a) & (b != c) & ~inside).sum())
    return between >= THIN and between > beyond
