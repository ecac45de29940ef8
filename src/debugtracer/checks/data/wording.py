"""How the checks of data name a batch, its samples and the place to edit."""

from __future__ import annotations

from collections.abc import Iterable

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import BatchOddity, LoaderNote
from debugtracer.trace.file_line import file_line
from debugtracer.trace.place import Place

SHOWN = 6  # dataset indices written out in a message (ours)


def which(batch: int, loader: LoaderNote) -> str:
    """Format a batch with its loader: `batch 120 of Corpus (train.py:50)`."""
    at = f" ({file_line(loader.frame)})" if loader.frame is not None else ""
    return f"batch {batch} of {loader.dataset or 'a loader'}{at}"


def named(samples: Iterable[int] | None) -> str:
    """Format sample indices: `sample 7`, `samples 1920..1983`, `samples 3, 5, 9 and 4 more`, or nothing."""
    known = list(samples or ())
    if not known:
        return ""
    if len(known) == 1:
        return f"sample {known[0]}"
    if known == list(range(known[0], known[0] + len(known))):
        return f"samples {known[0]}..{known[-1]}"
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return f"samples {', '.join(map(str, known[:SHOWN]))}{more}"


def with_samples(samples: Iterable[int] | None) -> str:
    """The same in brackets, with a space before."""
    text = named(samples)
    return f" ({text})" if text else ""


def place_of(fact: BatchOddity, frame: Frame | None = None) -> Place:
    """Where the dataset makes its samples, else where the loader was built; where it met the model beside it."""
    return Place(
        frame=frame or (fact.made[0] if fact.made else None) or fact.loader.made_at or fact.loader.frame,
        symptom_frame=fact.frame,
        batch_rows=fact.rows or None,
        sample_index=fact.samples,
    )


def at_loader(loader: LoaderNote, setting: str | None = None) -> Place:
    """The line that built the loader: its settings are edited there."""
    return Place(frame=loader.frame, argument=setting)
