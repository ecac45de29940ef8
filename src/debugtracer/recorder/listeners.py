"""What the recorder and its gates report to, as types: alarms, numbers, the end of a segment; and who may hold a step
back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from torch.optim import Optimizer

from debugtracer.recorder.alarm import Alarm


class AlarmListener(Protocol):
    """Looks into alarms."""

    @abstractmethod
    def open(self, alarm: Alarm) -> None:
        """Called when a bad number was seen. May raise StoppedByTracer, nothing else."""


class ClosedStep(NamedTuple):
    """The numbers of a step, and the number of the backward that comes after it."""

    step: int
    iteration: int
    values: dict[str, float]


class StepNumbers(Protocol):
    """Receives the numbers of each step."""

    def publish(self, step: int, values: dict[str, float]) -> None:
        """Take the numbers of one step that is over."""

    def publish_all(self, steps: Sequence[ClosedStep]) -> None:
        """Take the numbers of steps that are over for a while, in their order; batches are released by the caller."""

    def waiting(self) -> bool:
        """Whether facts or numbers of observers are to be published with the step that has just ended, or the next one
        is to be looked at closely."""


class SegmentListener(Protocol):
    """Hears that a segment of the tape is closed."""

    def update_over(self) -> None:
        """Called right after each step, before the next forward; raises nothing."""
        return None

    def segment_closed(self) -> None:
        """Called between two steps, after the boundary; `step_s` of the run state is the time of the step that
        ended. Once for some steps together while all rests, and perhaps in the middle of the next."""


class PassListener(Protocol):
    """Hears of passes over the loaders of the program. What it raises is meant to end the program."""

    waiting: bool
    """Whether each fetch is to be told."""

    def begins(self, loader: Any) -> None:
        """Called before a pass begins."""
        return None

    def begun(self, loader: Any, iterator: Any) -> None:
        """Called with the iterator of a pass."""
        return None

    def before_fetch(self, iterator: Any) -> bool:
        """Called before a batch is fetched; True: the pass ends here."""
        return False


class SampleFilter(PassListener, Protocol):
    """Leaves samples and batches out before the loop gets them."""

    waiting: bool = False
    active: bool
    """Whether what is drawn is to be shown to it."""
    screens: list[Callable[[Any], bool]]
    """Empty where batches are handed out as they come."""

    def replaced(self, iterator: Any, index: Any) -> Any:
        """What is to be read in place of what the sampler drew."""

    def drops(self, data: Any) -> bool:
        """Whether a batch is not to be handed out."""


class RunOpener(Protocol):
    """Opens what leaves the process."""

    def open(self) -> None:
        """Make the run folder of this rank; called at each backward, does its work at the first."""


class Notes(Protocol):
    """Keeps sentences for doctor and the report."""

    def note(self, what: str, text: str) -> None:
        """Write one sentence under a key."""


class GateRanks(Protocol):
    """Ranks that decide about a step together."""

    def meets(self) -> bool:
        """True where all ranks come to each gate and agree there."""

    def together(self, bad: bool, alarm: Callable[[], Alarm]) -> bool:
        """Ask the other ranks, with what is bad here and its alarm; True when they decided. May raise
        StoppedByTracer."""


class OneRank(GateRanks):
    """Every rank decides for itself."""

    def meets(self) -> bool:
        return False

    def together(self, bad: bool, alarm: Callable[[], Alarm]) -> bool:
        return False


class IncidentPolicy(Protocol):
    """May hold steps and batches of the loop back while an incident is open. Every method may raise StoppedByTracer."""

    def skip_step(self) -> bool:
        """Whether to skip a step that begins: True while a bad one waits for its batch to come again."""

    def skip_write(self) -> bool:
        """Whether to skip the write, asked after the health gate: True when this very step is to be replayed from its
        batch."""

    def holds(self, optimizer: Optimizer, obstacle: str = "") -> bool:
        """Whether to leave the write of a bad step out and close the step, asked after the health gate; `obstacle`: why
        that cannot be done."""

    def wrote_bad_weights(self, optimizer: Optimizer) -> None:
        """Called after a write that has left weights which are not finite."""

    def scaler_failed(self, optimizer: Optimizer, times: int) -> None:
        """Called after a GradScaler has left so many updates in a row out, where no lower scale can help."""

    def scale_too_high(self, optimizer: Optimizer, scaler: Any, times: int) -> None:
        """Called after a GradScaler has left so many updates in a row out, where a lower scale may help."""
        return

    def give_up(self) -> None:
        """Stop waiting for a batch at once."""

    def next_fetch(self) -> None:
        """Called when the loop asks for a batch."""

    def again(self, iterator: Any) -> tuple[Any] | None:
        """Return data to hand out instead of fetching, in a tuple; None: fetch."""

    def handed_out(self, iterator: Any, data: Any) -> None:
        """Take the data of a fetch."""


class NoPolicy(IncidentPolicy):
    """The loop goes on as it would without us: mode observe."""

    def skip_step(self) -> bool:
        return False

    def skip_write(self) -> bool:
        return False

    def holds(self, optimizer: Optimizer, obstacle: str = "") -> bool:
        return False

    def wrote_bad_weights(self, optimizer: Optimizer) -> None:
        return None

    def scaler_failed(self, optimizer: Optimizer, times: int) -> None:
        return None

    def scale_too_high(self, optimizer: Optimizer, scaler: Any, times: int) -> None:
        return None

    def give_up(self) -> None:
        return None

    def next_fetch(self) -> None:
        return None

    def again(self, iterator: Any) -> tuple[Any] | None:
        return None

    def handed_out(self, iterator: Any, data: Any) -> None:
        return None
