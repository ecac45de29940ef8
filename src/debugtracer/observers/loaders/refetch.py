"""Fetches a guilty sample again through the user's dataset, to find the transform that makes it bad; restores all
randomness."""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import random
import sys
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import IterableDataset, Subset

from debugtracer.callsites.frames import USER as USERS
from debugtracer.callsites.frames import as_frame, place_of
from debugtracer.observers.data.tensor_summary import BLANK_WIDTH
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.refetched import Refetched
from debugtracer.trace.step import StepRef

DEPTH = 4  # levels of attributes searched for transforms and generators (ours)
MOST = 200  # objects visited (ours)
CONTAINERS = frozenset({list, dict, set, Counter, OrderedDict, defaultdict})
KEPT = 1 << 16  # entries of a list, dict or set that are kept (ours: half a millisecond)
NORMALISING = ("norm", "standard", "zscore", "scale", "whiten")  # parts of a transform's name
PLAIN = (bool, int, float, str, bytes, complex, type(None), tuple)


def refetch(info: LoaderInfo, loader: int, index: int, what: str, path: str, ref: StepRef) -> Refetched | None:
    """Ask `dataset[index]` again. None for streams and when the user's code raises. Generators, plain attributes and
    stdout are as before afterwards."""
    dataset: Any = getattr(info.loader(), "dataset", None)
    if dataset is None or isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
        return None
    watched: list[PipelineStep] = []
    with restored(dataset), watching(dataset, watched, what), torch.no_grad():
        try:
            sample = dataset[index]
        except (Exception, SystemExit):
            return None  # the user's code; it may need what only a worker has
    again = is_odd(sample, what)
    guilty = next((step for step in watched if step.after and not step.before), None) if again else None
    inside = getitem_frame(dataset)
    if guilty is not None:
        normalising = any(word in guilty.name.lower() for word in NORMALISING)
        return Refetched(
            ref=ref,
            loader=loader,
            index=index,
            what=what,
            again=again,
            origin="normalisation" if normalising else "operation",
            transform=guilty.name,
            frame=guilty.frame or inside,
        )
    origin = "source" if again and watched and watched[0].before else ""
    return Refetched(
        ref=ref, loader=loader, index=index, what=what, again=again, origin=origin, frame=inside if again else None
    )


class PipelineStep:
    """One call of a transform: was its input bad, is its output?"""

    def __init__(self, name: str, frame: Frame | None, before: bool, after: bool) -> None:
        self.name, self.frame, self.before, self.after = name, frame, before, after


def is_odd(sample: Any, what: str) -> bool:
    """Whether any array of a sample is non-finite, or (blank) one value only."""
    for values in arrays(sample):
        if values.is_floating_point() and not bool(torch.isfinite(values).all()):
            return True
        if what != "nonfinite" and values.numel() >= BLANK_WIDTH and bool((values == values.reshape(-1)[0]).all()):
            return True
    return what == "nonfinite" and any(isinstance(v, float) and not math.isfinite(v) for v in scalars(sample))


def scalars(sample: Any) -> Iterator[Any]:
    """Yield plain numbers on the first level."""
    if isinstance(sample, dict):
        yield from sample.values()
    elif isinstance(sample, (list, tuple)):
        yield from sample
    else:
        yield sample


def arrays(sample: Any) -> Iterator[Tensor]:
    """Yield tensors, numpy arrays and images of a sample, as tensors."""
    yield from (t.detach().cpu() for t in tensors(sample))
    numpy = sys.modules.get("numpy")
    for value in scalars(sample):
        if numpy is not None and not isinstance(value, (Tensor, str, bytes)) and hasattr(value, "__array_interface__"):
            made = numpy.asarray(value)
            if made.dtype.kind in "fiub" and made.size:
                yield torch.from_numpy(numpy.ascontiguousarray(made))


def parts_of(dataset: Any) -> Iterator[Any]:
    """The dataset and the objects it holds, breadth first; no tensors, arrays, modules of Python or plain values."""
    queue, seen = [(dataset, 0)], {id(dataset)}
    while queue and len(seen) < MOST:
        owner, depth = queue.pop(0)
        yield owner
        inner = (
            list(owner[:MOST]) if isinstance(owner, (list, tuple)) else list(getattr(owner, "__dict__", {}).values())
        )
        for one in inner:
            is_object = hasattr(one, "__dict__") or isinstance(one, (list, random.Random))
            if (
                depth < DEPTH
                and is_object
                and id(one) not in seen
                and not isinstance(one, (Tensor, type))
                and not inspect.ismodule(one)
            ):
                seen.add(id(one))
                queue.append((one, depth + 1))


def transforms_of(dataset: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (container, key) of callables in attributes named `*transform*`, or in the `transforms` list of one
    (Compose)."""
    for owner in parts_of(dataset):
        attributes = getattr(owner, "__dict__", {})
        for name, value in list(attributes.items()):
            if "transform" not in name:
                continue
            if isinstance(value, (list, tuple)):
                if isinstance(value, list):
                    yield from ((value, place) for place, one in enumerate(value) if callable(one))
            elif callable(value) and not hasattr(value, "transforms"):
                yield attributes, name


@contextlib.contextmanager
def watching(dataset: Any, steps: list[PipelineStep], what: str) -> Iterator[None]:
    """Every transform notes whether its input and output are bad; the originals are back afterwards."""
    replaced: list[tuple[Any, Any, Any]] = []
    try:
        for container, key in list(transforms_of(dataset)):
            original = container[key]
            replaced.append((container, key, original))
            container[key] = noting(original, steps, what)
        yield
    finally:
        for container, key, original in replaced:
            container[key] = original


def noting(original: Callable[..., Any], steps: list[PipelineStep], what: str) -> Callable[..., Any]:
    """The transform, with a note of its call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        before = any(is_odd(value, what) for value in args)
        result = original(*args, **kwargs)
        steps.append(PipelineStep(name_of(original), frame_of(original), before, is_odd(result, what)))
        return result

    return call


def name_of(transform: Any) -> str:
    """The name of a function, or of the class of an object."""
    return str(getattr(transform, "__qualname__", None) or type(transform).__qualname__).replace("<locals>.", "")


def frame_of(transform: Any) -> Frame | None:
    """The user's line of a transform: its body; None for one of a library."""
    for name in ("", "forward", "__call__"):
        method = transform if not name else getattr(type(transform), name, None)
        code = getattr(inspect.unwrap(method), "__code__", None) if callable(method) else None
        if code is not None and place_of(code) == USERS:
            return as_frame(code, first_line(code))
    return None


def getitem_frame(dataset: Any) -> Frame | None:
    """The first line of the body of the user's `__getitem__`; None when a library makes the samples (TensorDataset)."""
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    return as_frame(code, first_line(code)) if code is not None and place_of(code) == USERS else None


def first_line(code: Any) -> int:
    """The first line with an instruction after the `def`."""
    lines: list[int] = [line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno]
    return lines[0] if lines else int(code.co_firstlineno)


@contextlib.contextmanager
def restored(dataset: Any) -> Iterator[None]:
    """Restore global generators, those of the dataset, its plain attributes, what its lists, dicts and sets hold, and
    the standard streams at exit."""
    state = RngState()
    undo: list[Callable[[], None]] = []
    for owner in parts_of(dataset):
        undo += restorers(owner)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for action in reversed(undo):
            action()
        state.restore()


def restorers(owner: Any) -> list[Callable[[], None]]:
    """How to put one object back as it is now."""
    attributes = getattr(owner, "__dict__", None)
    undo: list[Callable[[], None]] = []
    if isinstance(owner, random.Random):
        place = owner.getstate()
        undo.append(lambda: owner.setstate(place))
    if isinstance(attributes, dict) and not isinstance(owner, nn.Module):
        plain = {name: value for name, value in attributes.items() if isinstance(value, PLAIN)}
        undo.append(lambda: attributes.update(plain))
    threaded = any(isinstance(value, threading.Thread) for value in (attributes or {}).values())
    for value in list((attributes or {}).values()):
        if type(value) in CONTAINERS and len(value) <= KEPT and not threaded:
            undo.append(emptied_and_filled(value))
        elif isinstance(value, torch.Generator):
            undo.append(put_back(value.set_state, value.get_state()))
        elif hasattr(value, "bit_generator") and hasattr(value.bit_generator, "state"):
            undo.append(put_back_attribute(value.bit_generator, value.bit_generator.state))
        elif hasattr(value, "get_state") and hasattr(value, "set_state") and type(value).__name__ == "RandomState":
            undo.append(put_back(value.set_state, value.get_state()))
    return undo


def emptied_and_filled(held: Any) -> Callable[[], None]:
    """A call that gives a list, dict or set the entries it has now, where it has others by then: some datasets note
    what was asked of them. What a thread fills goes on."""
    before = held.copy()

    def refill() -> None:
        if entries(held) == entries(before):
            return
        held.clear()
        held.extend(before) if isinstance(held, list) else held.update(before)

    return refill


def entries(held: Any) -> list[int]:
    """The ids of what a list, dict or set holds, in its order."""
    if isinstance(held, dict):
        return [id(one) for pair in list(held.items()) for one in pair]
    return [id(one) for one in list(held)]


def put_back(setter: Callable[[Any], Any], state: Any) -> Callable[[], None]:
    """A call that restores a state."""
    return lambda: setter(state)


def put_back_attribute(generator: Any, state: Any) -> Callable[[], None]:
    """The same for numpy's bit generators, whose state is an attribute."""
    return lambda: setattr(generator, "state", state)
