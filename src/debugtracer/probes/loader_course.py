"""What is learnt of one loader as its batches pass: schema, habits of each tensor, and the contents of the epoch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch.utils.data import IterableDataset

from debugtracer.probes.refetch import getitem_frame
from debugtracer.recorder.batches import LoaderInfo
from debugtracer.recorder.habit import Habit
from debugtracer.recorder.schemas import Schemas
from debugtracer.trace.facts.batch_content import LeafProfile, LoaderNote
from debugtracer.trace.number import number

REMEMBERED = 1000  # batches whose content is known again (CHECKS 3.1, data_duplicate_batch)
USUAL = 32  # batches that the usual number of rows is taken of (ours)


@dataclass
class LoaderCourse:
    """One loader, or the loaders built one after the other at the same line."""

    info: LoaderInfo
    note: LoaderNote
    seen: int = 0
    looked: int = 0
    told_profile: int = -1
    training: bool = False
    first_layer: str = ""
    schemas: Schemas = field(default_factory=Schemas)
    habits: dict[str, Habit] = field(default_factory=dict)
    rows: deque[int] = field(default_factory=lambda: deque(maxlen=USUAL))
    contents: dict[int, tuple[int, tuple[int, ...] | None]] = field(default_factory=dict)
    """Hash of each batch of this epoch -> its number and its indices."""
    told: dict[str, int] = field(default_factory=dict)
    """Oddities told, by kind."""
    unreadable: set[str] = field(default_factory=set)
    """Tensors whose dtype no reduction understands."""

    def begin_epoch(self) -> None:
        """The same batches may come again."""
        self.contents.clear()

    def usual_rows(self) -> int:
        """Median rows of the last batches."""
        ordered = sorted(self.rows)
        return ordered[len(ordered) // 2] if ordered else 0

    def remember(self, content: int, batch: int, indices: tuple[int, ...] | None) -> tuple[int, tuple[int, ...] | None] | None:
        """The earlier batch of this epoch with the same content."""
        known = self.contents.get(content)
        self.contents[content] = (batch, indices)
        if len(self.contents) > REMEMBERED:
            del self.contents[next(iter(self.contents))]
        return known

    def profiles(self) -> tuple[LeafProfile, ...]:
        """What each tensor is usually like."""
        return tuple(profile_of(path, habit) for path, habit in self.habits.items())


def profile_of(path: str, habit: Habit) -> LeafProfile:
    """One tensor as plain numbers."""
    label = habit.role == "label" and len(habit.classes) > 0
    padded = len(habit.pad.values) > 0
    return LeafProfile(
        path=path,
        role=habit.role,
        mean=number(habit.mean.centre),
        std=number(habit.std.centre),
        low=number(min(habit.low.values, default=0.0)),
        high=number(max(habit.high.values, default=0.0)),
        channels=habit.channels,
        pad_share=habit.pad.centre if padded else None,
        longest_share=habit.longest.centre if padded else None,
        longest=habit.lengths[1],
        width=habit.lengths[2],
        shortest=habit.lengths[0],
        entropy=habit.entropy.centre if label else None,
        pooled_entropy=habit.pooled() if label else None,
        classes=len(habit.classes),
        skewed_run=habit.skewed,
    )


class Courses:
    """The course of each loader."""

    def __init__(self) -> None:
        self.known: dict[int, LoaderCourse] = {}
        self.count = 0

    def of(self, info: LoaderInfo) -> LoaderCourse:
        """A loader built anew at the same line, after the old one is gone, goes on where that one was."""
        course = self.known.get(id(info))
        if course is None or course.info is not info:
            course = next((c for c in self.known.values() if info.goes_on(c.info)), None)
            if course is not None:
                del self.known[id(course.info)]
                course.info, self.known[id(info)] = info, course
        if course is None:
            course = self.known[id(info)] = LoaderCourse(info, note_of(info, self.count))
            self.count += 1
        return course

    def clear(self) -> None:
        """A forked child starts from nothing."""
        self.__init__()  # type: ignore[misc]


def note_of(info: LoaderInfo, count: int) -> LoaderNote:
    """The loader as plain values; asks the user's dataset for its length, once."""
    loader: Any = info.loader()
    return LoaderNote(
        number=count,
        dataset=info.dataset,
        dataset_len=info.dataset_len(),
        batches=attempt(lambda: len(loader)),
        batch_size=info.batch_size,
        num_workers=info.num_workers,
        sampler=info.sampler,
        stream=isinstance(getattr(loader, "dataset", None), IterableDataset),
        frame=info.frame,
        made_at=getitem_frame(getattr(loader, "dataset", None)),
    )


def attempt(ask: Callable[[], int]) -> int | None:
    """What the user's `__len__` says, if it can."""
    try:
        return ask()
    except Exception:
        return None
