"""The vocabulary of events.jsonl: one object a line, tagged by `type`. A new event type is added here, reviewed, on
purpose."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.nearness import Nearness
from debugtracer.trace.verdict import Verdict

VERSION = 1
IMPORTED = "imported"  # the note of a run whose numbers come from a log that others wrote: its format and where it lies


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base: `at` is seconds since the epoch, `trace_id` names the step (`<run>-<rank>-<iteration>`), empty for run-wide
    events."""

    at: float
    rank: int = 0
    trace_id: str = ""


class RankStarted(Event, frozen=True, tag="rank-started"):
    """First event of a rank; written at its first backward or first finding."""

    pid: int
    world_size: int = 1
    torch: str = ""
    python: str = ""
    device: str = "cpu"
    mode: str = "dev"
    version: int = VERSION


class Noted(Event, frozen=True, tag="noted"):
    """A fact of the run worth keeping (loader, optimizer, root module seen; a fallback taken; tracing turned off and
    why)."""

    what: str
    text: str
    frame: Frame | None = None


class Observed(Event, frozen=True, tag="observed"):
    """A new fact of an observer: `word` names its kind (trace/facts), `fact` holds its fields."""

    word: str
    fact: dict[str, Any]


class Judged(Event, frozen=True, tag="judged"):
    """Which checks were asked how often on this rank; the others lacked what they need."""

    asked: dict[str, int]
    fed: tuple[str, ...] | None = None
    """Checks for which the run brought what they are about: a kind of fact where they need one, else a series. None: an
    older version wrote this."""
    short: dict[str, int] = {}
    """Checks whose series was too short for them to judge: the values they need."""
    unseen: dict[str, str] = {}
    """Checks that could not be asked, with what the run does not have (`a scheduler`)."""
    near: dict[str, Nearness] = {}
    """How close each check came to its limit that measures a number."""
    judge_us: float = 0.0
    """Microseconds per step spent judging, off the training thread."""


class Found(Event, frozen=True, tag="found"):
    """A finding of a check."""

    finding: Finding
    judged: bool = False
    """The judge said it of the run's own numbers and facts, and is asked again by a recheck; false for what was found
    in the replay of an incident."""


class Incident(Event, frozen=True, tag="incident"):
    """An incident, its facts and its verdict. `folder` is relative to the run folder, None if nothing could be
    saved."""

    facts: IncidentFacts
    verdict: Verdict | None
    folder: str | None = None
    capsule: bool = True
    """The folder holds a capsule that replays; false when the step was not traced whole or is too large."""


class Diagnosed(Event, frozen=True, tag="diagnosed"):
    """What trials, or the causes that have read all findings, say of the finding that `check` made at the verdict's
    step and rank."""

    check: str
    verdict: Verdict


class Acted(Event, frozen=True, tag="acted"):
    """What debug-tracer did: `stop`, or the slug of another response (responses/)."""

    action: str
    iteration: int
    step: int
    reason: str
    samples: tuple[int, ...] | None = None
    """Dataset indices of the batches that it kept from the weights; None where none were, or they are not known."""


class ActionEffect(Event, frozen=True, tag="effect"):
    """What came of the action at `step`, seen `after` steps later."""

    step: int
    after: int
    loss_before: float | None
    """Median of the last finite losses before the action, and of those since; None where too few are known."""
    loss_after: float | None
    bad: int
    """Bad steps since."""
    helped: bool | None = None
    """No bad step came since; None in traces of earlier versions."""


class Crashed(Event, frozen=True, tag="crashed"):
    """The program died of its own exception."""

    error: str
    message: str
    iteration: int
    step: int
    frames: tuple[Frame, ...] = ()
    """User frames, innermost first."""


class Failed(Event, frozen=True, tag="failed"):
    """A failure of ours that the guard swallowed."""

    where: str
    count: int
    first: str


class RankEnded(Event, frozen=True, tag="rank-ended"):
    """Last event of a rank that ended by itself; also repeated as a heartbeat (`final` false) at each flush."""

    steps: int
    iterations: int
    wall_s: float = 0.0
    own_s: float = 0.0
    """Host time spent in our code, seconds."""
    host_syncs: int = 0
    skipped: int = 0
    """Steps whose update a GradScaler skipped."""
    final: bool = True
    own_updates: int | None = None
    """Updates that a loop wrote into its weights itself; None where an optimizer steps."""
    rested: dict[str, int] = {}
    """Steps in which a part of what we do rested, to stay under the promised cost."""


AnyEvent = (
    RankStarted
    | Noted
    | Observed
    | Judged
    | Found
    | Incident
    | Diagnosed
    | Acted
    | ActionEffect
    | Crashed
    | Failed
    | RankEnded
)
