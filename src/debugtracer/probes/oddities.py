"""What is out of the ordinary in one batch, beside what its loader has handed out before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from debugtracer.probes.loader_course import LoaderCourse
from debugtracer.recorder.batches import Batch
from debugtracer.recorder.habit import Habit
from debugtracer.recorder.lengths import is_padding_mask, lengths_of, pad_value, repeats
from debugtracer.recorder.look import Look, blank_rows

RANGE_LEARNT, BEYOND = 50, 10.0  # looks, times the learnt range (CHECKS 3.1, data_range_extreme)
SHORT, SHORT_LEARNT = 0.5, 5  # share of the usual rows, batches (CHECKS 3.1, data_short_batch)
FEW_BATCHES = 20  # an epoch of fewer batches repeats itself on purpose (CHECKS 3.1, data_duplicate_batch)
DISTINCT = 8  # different values that the content of a batch has at least before it is called the same (ours)
MOST_CLASSES = 1000  # a wider range of integers is no label (ours)
GRAM_EVERY = 10  # looks between two searches for repeated n-grams (ours)
REPLACEMENT, UNREADABLE = "\ufffd", 0.05  # share of characters that could not be decoded (ours)


@dataclass
class Oddity:
    """One of BatchOddity's kinds, before it is known which backward uses the batch."""

    what: str
    path: str = ""
    rows: tuple[int, ...] = ()
    value: float = 0.0
    usual: float = 0.0
    spread: float = 0.0
    count: int = 0
    of: int = 0
    channel: int | None = None
    detail: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def whole(batch: Batch, look: Look) -> tuple[int, ...]:
    """All rows."""
    return tuple(range(batch.rows if batch.rows is not None else look.rows))


def of_floats(course: LoaderCourse, habit: Habit, path: str, leaf: Tensor, look: Look, batch: Batch) -> Iterator[Oddity]:
    """Non-finite values, blank rows, channels that stopped moving, values beyond the range, other moments."""
    if look.nonfinite and not look.minus_inf_only:
        yield Oddity("nonfinite", path, look.bad_rows, count=look.nonfinite, of=leaf.numel())
    blank = blank_rows(look, leaf.numel() // max(look.rows, 1))
    if blank and not habit.had_blank:
        if habit.looks >= FEW_BATCHES:
            yield Oddity("blank", path, blank, value=look.row_low[blank[0]] if look.row_low else 0.0, count=len(blank), of=look.rows)
        else:
            habit.had_blank = True
    for channel in habit.still_now(look)[:4]:
        value = leaf.select(1 if leaf.dim() != 3 or leaf.shape[1] == look.channels else 2, channel).reshape(-1)[0]
        yield Oddity("constant", path, whole(batch, look), value=float(value), channel=channel, count=1, of=look.channels)
    yield from of_range(habit, path, look)
    for far in habit.distances(look):
        yield Oddity("content", path, whole(batch, look), far.value, far.usual, far.spread, detail=far.respect)


def of_range(habit: Habit, path: str, look: Look) -> Iterator[Oddity]:
    """Rows far outside everything seen lately."""
    if habit.looks < RANGE_LEARNT or look.row_low is None or look.row_high is None or not habit.low.values:
        return
    least, most = min(habit.low.values), max(habit.high.values)
    width = most - least
    if width <= 0:
        return
    low, high = least - (BEYOND - 1) * width, most + (BEYOND - 1) * width
    if look.low >= low and look.high <= high:
        return
    rows = tuple(row for row, (a, b) in enumerate(zip(look.row_low, look.row_high, strict=True)) if a < low or b > high)
    value = look.high if look.high > high else look.low
    yield Oddity("range", path, rows, value, most if look.high > high else least, width, count=len(rows), of=look.rows)


def of_integers(course: LoaderCourse, habit: Habit, path: str, leaf: Tensor, look: Look, batch: Batch) -> Iterator[Oddity]:
    """Labels that are all ignored, other tokens than usual, padding and repetition."""
    if look.low == look.high and look.low < 0 and habit.varied:
        yield Oddity("ignored", path, whole(batch, look), value=look.low, count=leaf.numel(), of=leaf.numel())
    if look.role == "label" and habit.role == "label":
        yield from of_labels(habit, path, leaf, look)
    habit.varied |= look.low != look.high
    if look.role != "ids" or leaf.dim() != 2:
        return
    unusual = habit.distances(look)
    for far in unusual:
        yield Oddity("content", path, whole(batch, look), far.value, far.usual, far.spread, detail=far.respect)
    pad = pad_value(leaf)
    lengths = lengths_of(leaf, pad) if pad is not None else None
    habit.learn_padding(lengths, leaf.shape[1], pad)
    if habit.looks % GRAM_EVERY == 0 or unusual:
        for one in repeats(leaf, lengths)[:8]:
            yield Oddity("ngram", path, (one.row,), value=one.share, count=one.length, of=leaf.shape[1])


def of_labels(habit: Habit, path: str, leaf: Tensor, look: Look) -> Iterator[Oddity]:
    """A label that no batch has had before, below or above all others."""
    least, most = habit.ever or (look.low, look.high)
    habit.ever = (min(least, look.low), max(most, look.high))
    if habit.looks >= RANGE_LEARNT and habit.ever != (least, most) and most - least < MOST_CLASSES:
        value = look.high if look.high > most else look.low
        rows = tuple((leaf.reshape(-1) == int(value)).nonzero().view(-1).tolist())
        yield Oddity("label", path, rows, value, most if value > most else least, count=len(rows), of=look.rows)


def of_masks(leaves: list[tuple[str, Tensor, Look]], course: LoaderCourse) -> Iterator[Oddity]:
    """Padding masks beside token ids: rows without a token, and targets that count at padded positions."""
    for path, mask, look in leaves:
        if look.role != "mask" or mask.dim() != 2 or mask.shape[1] < 2:
            continue
        ids = [(p, t) for p, t, other in leaves if other.role == "ids" and t.shape == mask.shape]
        if not ids or not is_padding_mask(mask):
            continue
        kept = mask.bool()
        lengths = kept.sum(1)
        empty = tuple((lengths == 0).nonzero().view(-1).tolist())
        if empty:
            yield Oddity("empty", path, empty, count=len(empty), of=mask.shape[0])
        course.habits[ids[0][0]].learn_padding(lengths, mask.shape[1], None)
        share = 1.0 - float(kept.double().mean())
        for p, t in ids[1:]:
            padding = t[~kept]
            if share > 0 and int(padding.min()) >= 0 and int(padding.min()) == int(padding.max()):  # padding is one token; other targets may count by right
                yield Oddity("pad-labels", p, value=share, rows=tuple(range(mask.shape[0])), detail=ids[0][0], count=int((~kept).sum()), of=mask.numel())


def of_batch(course: LoaderCourse, batch: Batch, looks: list[Look]) -> Iterator[Oddity]:
    """The same content again in one epoch, and far fewer rows than usual."""
    usual, rows = course.usual_rows(), batch.rows
    last = course.note.batches is not None and batch.number >= course.note.batches - 1
    if rows is not None and course.note.batches is not None and len(course.rows) >= SHORT_LEARNT and rows < SHORT * usual and not last:
        yield Oddity("short", value=rows, usual=usual)
    if rows is not None:
        course.rows.append(rows)
    few = course.note.batches is not None and course.note.batches < FEW_BATCHES
    content = tuple(look.content for look in looks)
    if few or not looks or len({v for one in content for v in one[1:]}) < DISTINCT:
        return
    known = course.remember(hash(content), batch.number, batch.indices)
    if known is not None and known[0] != batch.number:
        same = "unknown" if batch.indices is None or known[1] is None else "same" if batch.indices == known[1] else "other"
        yield Oddity("duplicate", rows=tuple(range(rows or 0)), value=known[0], count=batch.number - known[0], detail=same)


def of_texts(data: Any) -> Iterator[Oddity]:
    """Lists of strings in the batch: characters that could not be decoded."""
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (list, tuple)) else ()
    for key, part in list(parts)[:16]:
        if not isinstance(part, (list, tuple)) or not part or not isinstance(part[0], str):
            continue
        bad = [row for row, text in enumerate(part) if isinstance(text, str) and text and text.count(REPLACEMENT) > UNREADABLE * len(text)]
        if bad:
            share = sum(part[row].count(REPLACEMENT) for row in bad) / sum(len(part[row]) for row in bad)
            yield Oddity("unreadable", f"batch[{key!r}]", tuple(bad), value=share, count=len(bad), of=len(part))
