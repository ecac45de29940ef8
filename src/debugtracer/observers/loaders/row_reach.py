"""Asks a dataset for an index beyond its length, once, when a pass is over."""

from __future__ import annotations

import dis
from time import perf_counter
from types import CodeType
from typing import Any

from torch.utils.data import IterableDataset

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import as_frame
from debugtracer.observers.loaders.refetch import first_line
from debugtracer.observers.loaders.untouched import untouched
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.row_reach import RowReach
from debugtracer.trace.step import StepRef

FAR = 2**40  # an index that only a dataset without an end answers (ours)
PROBES = 80  # samples fetched at most: to find a bound below FAR takes about twice its bits (ours)
SECONDS = 0.5  # spent on them at most (ours)
DRAW_ALL = frozenset({"RandomSampler", "SequentialSampler"})
CHOOSE = frozenset({"min", "max"})


def row_reach(info: LoaderInfo, loader: int, ref: StepRef) -> RowReach | None:
    """The fact, where a dataset written by the user answers more than it has; all is as before afterwards."""
    held = info.data() if info.data is not None else None
    dataset: Any = getattr(info.loader(), "dataset", held)
    length_of, fetch = (getattr(getattr(type(dataset), n, None), "__code__", None) for n in ("__len__", "__getitem__"))
    if length_of is None or fetch is None or isinstance(dataset, IterableDataset) or not hasattr(dataset, "__dict__"):
        return None
    if not is_user_file(fetch.co_filename) or info.sampler not in DRAW_ALL:
        return None  # another sampler may draw any index
    try:
        length = len(dataset)
        with untouched(dataset):
            reach = bound(dataset, length) if length else None
    except (Exception, SystemExit):
        return None  # the user's code: what is no error of an index says nothing
    if reach is None:
        return None
    chosen = unread_choice(dataset, length_of, reach)
    return RowReach(
        ref=ref, loader=loader, dataset=type(dataset).__name__, length=length, reach=reach,
        counts="len" in length_of.co_names and not chooses(length_of),
        frame=as_frame(length_of, first_line(length_of)), loader_frame=info.frame,
        chosen=chosen, fetch_frame=as_frame(fetch, first_line(fetch)) if chosen else None,
    )  # fmt: skip


def chooses(length_of: CodeType) -> bool:
    """Whether a length is chosen among several, by a condition or by min and max: it is shorter on purpose."""
    jumps = any("JUMP" in step.opname and "_IF_" in step.opname for step in dis.get_instructions(length_of))
    return jumps or bool(CHOOSE & set(length_of.co_names))


def unread_choice(dataset: Any, length_of: CodeType, reach: int) -> str:
    """The attribute that a length counts, if it holds indices of rows that can be given and no method but the
    constructor reads it: the rows that were chosen are not those that are given."""
    methods = [getattr(f, "__code__", None) for kind in type(dataset).__mro__ for f in vars(kind).values()]
    others = [c for c in methods if c is not None and c is not length_of and c.co_name != "__init__"]
    for name in length_of.co_names:
        held = vars(dataset).get(name)
        if held is None or any(name in code.co_names for code in others):
            continue
        values = held.tolist() if hasattr(held, "tolist") else held
        if isinstance(values, (list, tuple, set, range)) and all(type(v) is int and 0 <= v < reach for v in values):
            return name
    return ""


def bound(dataset: Any, length: int) -> int | None:
    """The first index that is not answered; None where that is the length, where there is none, or it takes long."""
    began, usual, probes = perf_counter(), shapes(dataset[length - 1]), 0
    if not usual or not answers(dataset, length, usual) or answers(dataset, FAR, usual):
        return None
    low, high, step = length, FAR, length
    while high - low > 1:
        if probes >= PROBES or perf_counter() - began > SECONDS:
            return None
        probes += 1
        middle = low + step if high == FAR else (low + high) // 2
        if answers(dataset, middle, usual):
            low, step = middle, step * 2
        else:
            high = middle
    return high


def answers(dataset: Any, index: int, usual: tuple[tuple[int, ...], ...]) -> bool:
    """Whether a sample of the usual shape is there. Raises what the dataset raises, but for errors of an index."""
    try:
        return shapes(dataset[index]) == usual
    except (IndexError, KeyError):
        return False


def shapes(sample: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of the tensors and arrays of a sample."""
    held = list(tensors(sample))
    parts = sample.values() if isinstance(sample, dict) else sample if isinstance(sample, (list, tuple)) else [sample]
    return tuple(tuple(t.shape) for t in held) + tuple(
        tuple(p.shape) for p in parts if hasattr(p, "__array_interface__")
    )
