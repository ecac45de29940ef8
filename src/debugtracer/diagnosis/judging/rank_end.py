"""Where a rank stood when its run ended, from last-words.txt and its events. Needs no torch."""

from __future__ import annotations

import dataclasses
import linecache
from pathlib import Path

from debugtracer.callsites.construction import is_user_file
from debugtracer.trace.birth import Frame
from debugtracer.trace.collective import collective
from debugtracer.trace.events import Acted, AnyEvent, RankEnded, RankStarted
from debugtracer.trace.exchange import LAST_EXCHANGES, Exchange, exchanges_of
from debugtracer.trace.facts.standing import Standing
from debugtracer.trace.last_words import LAST_WORDS, Entry, Words, last_words
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.schema import rank_folder
from debugtracer.trace.window import Window


def standing(run: Path, rank: int, events: list[AnyEvent]) -> Standing | None:
    """Read where a rank stood; None if it wrote nothing: alone, or killed by a signal that cannot be caught."""
    if not any(isinstance(event, RankStarted) and event.world_size > 1 for event in events):
        return None  # the process that launched the ranks
    words = words_of(run, rank)
    ends = [event for event in events if isinstance(event, RankEnded)]
    counted, ended = max((event.steps for event in ends), default=0), any(event.final for event in ends)
    if any(isinstance(event, Acted) and event.action == "stop" for event in events):
        return Standing(ref=at(counted, rank), how="stopped", updates=counted)
    if words is None or (ended and words.how != "crashed"):
        return Standing(ref=at(counted, rank), how="ended", updates=counted) if ended else None
    updates = words.updates if words.updates is not None else counted or None
    call, frame = collective(words.stack), user_line(words.stack)
    return Standing(
        ref=at(updates or 0, rank), how=words.how, updates=updates, call=call, frame=frame, message=words.message,
        exchanges=exchanged(run, rank),
    )  # fmt: skip


def with_rank_end(window: Window, run: Path, events: list[AnyEvent]) -> Window:
    """The window of a rank with where it stood."""
    found = standing(run, window.ref.rank, events)
    return window if found is None else dataclasses.replace(window, facts={**window.facts, Standing: [found]})


def words_of(run: Path, rank: int) -> Words | None:
    """The last words of a rank, read tolerantly."""
    try:
        return last_words((rank_folder(run, rank) / LAST_WORDS).read_text(errors="replace"))
    except OSError:
        return None


def exchanged(run: Path, rank: int) -> tuple[Exchange, ...]:
    """The last exchanges of a rank, read tolerantly."""
    try:
        return exchanges_of((rank_folder(run, rank) / LAST_EXCHANGES).read_text(errors="replace"))
    except OSError:
        return ()


def at(updates: int, rank: int) -> StepRef:
    """The step in flight."""
    return StepRef(iteration=updates, step=updates, rank=rank, phase="reduce")


def user_line(stack: tuple[Entry, ...]) -> Frame | None:
    """The innermost line that is the user's."""
    for file, line, function in stack:
        if is_user_file(file):
            return Frame(file, line, function, linecache.getline(file, line).strip())
    return None
