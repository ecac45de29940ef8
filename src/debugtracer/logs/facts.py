"""What a log holds, before any judgement: messages that were recognised, tracebacks, curves, the command."""

from __future__ import annotations

from dataclasses import dataclass, field

from debugtracer.logs.curve import Curve
from debugtracer.logs.exceptions import Raised
from debugtracer.logs.fields import OBJECTIVE
from debugtracer.logs.patterns import Message
from debugtracer.trace.birth import Frame
from debugtracer.trace.window import LOSS


@dataclass
class Hit:
    """A message of the table, at its first place; the same message again is counted."""

    message: Message
    line: int
    """1-based line of the log."""
    text: str
    groups: dict[str, str] = field(default_factory=dict)
    count: int = 1
    last: int = 0
    rank: int | None = None
    frame: Frame | None = None
    """The user's line: of the traceback that ends here, or of the warning."""

    @property
    def because(self) -> str:
        """The clause of the table with the numbers of this message."""
        return fill(self.message.because, self.groups)


def fill(text: str, groups: dict[str, str]) -> str:
    """Replace each `{name}` by its group; one that did not take part is `?`."""
    for name, value in groups.items():
        text = text.replace("{" + name + "}", value or "?")
    return text


@dataclass
class Anomaly:
    """What anomaly mode said: the node whose gradient was NaN, and the forward line of it."""

    node: str
    output: int
    line: int
    forward: Raised | None = None


@dataclass
class LogFacts:
    """Everything read from one log."""

    source: str
    lines: int = 0
    size: int = 0
    """Characters."""
    hits: dict[str, Hit] = field(default_factory=dict)
    """By slug, in the order of their first place."""
    anomalies: list[Anomaly] = field(default_factory=list)
    forwards: dict[str, Raised] = field(default_factory=dict)
    """Forward tracebacks of anomaly mode, by node; the last one of each."""
    tracebacks: list[Raised] = field(default_factory=list)
    """By place, rank by rank."""
    curves: dict[str, Curve] = field(default_factory=dict)
    command: str = ""
    """The command that the log shows, "" if it shows none."""
    half: str = ""
    """The line that says that float16 was used, "" if none does."""
    last_step: float | None = None

    @property
    def crash(self) -> Raised | None:
        """The last exception that ended a traceback."""
        ended = [one for one in self.tracebacks if one.error]
        return max(ended, key=lambda one: one.end) if ended else None

    @property
    def loss(self) -> Curve | None:
        """The curve of the loss, whatever it is called; None when none was printed."""
        return self.curves.get(LOSS) or self.curves.get(OBJECTIVE)

    @property
    def empty(self) -> bool:
        """True if nothing but white space was in the log."""
        return self.size == 0
