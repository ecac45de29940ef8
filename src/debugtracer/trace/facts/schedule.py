"""Learning rates and the schedulers that set them."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class Rate(Fact, frozen=True, kw_only=True):
    """The learning rate of an optimizer where that is news: at its first update, after a jump, when it is 0 or negative
    for long."""

    ABOUT = "an optimizer"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built the optimizer."""
    low: Number
    """The least of its groups."""
    high: Number
    """The largest of its groups."""
    built: Number | None = None
    """The largest rate that its groups were built with."""
    before: Number | None = None
    """The largest of its groups an update earlier."""
    peak: Number = 0.0
    """The largest so far, this one left out."""
    number: int = 0
    """Updates of this optimizer before this one."""
    same: int = 1
    """Updates running, this one included, with a rate of the same sign (or 0) in all groups."""
    begun: int = 0
    """Iteration of the first of them."""
    begun_step: int = 0
    scheduler: str = ""
    """The class of its scheduler, if it has one that was stepped or built."""
    calls: int | None = None
    """Calls of the step of that scheduler so far."""
    scheduler_frame: Frame | None = None
    """Where the user built that."""
    value_frame: Frame | None = None
    """The line of the user's function that gave the factor, for a scheduler made of functions."""
    rate_frame: Frame | None = None
    """Without a scheduler: the line that says the largest rate, where that is not the constructor."""
    fraction_frame: Frame | None = None
    """Of a rate below 0: the only fraction, bounded nowhere, in the function that gave it."""
    climb_frame: Frame | None = None
    """After a fall: the only line of the schedule's function that counts up, where there is one."""
    loaded: Number | None = None
    """At the first update: the rate that came with the optimizer's loaded state."""
    loaded_frame: Frame | None = None
    """The line that loaded it."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class RateMoved(Fact, frozen=True, kw_only=True):
    """At an incident or a crash: a learning rate that is no longer the one its optimizer was built with, and where it
    moved most; or one that is no number."""

    optimizer: int
    kind: str = ""
    frame: Frame | None
    """Where the user built the optimizer."""
    built: Number
    """The rate it was built with."""
    now: Number
    """The rate in use; the largest of its groups, as all here."""
    before: Number
    """The rate before the largest move towards it."""
    after: Number
    """The rate after that move."""
    step: int
    """The first step that used it."""
    scheduler: str = ""
    """The class of the scheduler that sets it, if one does."""
    scheduler_frame: Frame | None = None
    """The line of the scheduler's that gave the rate: that of its function where it has one, else where it was
    built."""
    written: Frame | None = None
    """Without a scheduler: the line that has written the rate."""
    undefined: str = ""
    """What the rate is where it is no number: NaN, infinite, complex; `now` and `after` are NaN then."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class RateKept(Fact, frozen=True, kw_only=True):
    """At the end: a learning rate that is another than the schedule was built with, and the same in every update."""

    ABOUT = "a scheduler"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built it."""
    built: Number
    """The rate its schedule begins from (`initial_lr`, the largest of its groups)."""
    rate: Number
    """The rate of every update."""
    updates: int
    passes: int = 0
    """Passes of the loader that were begun whose batch was the last one fetched before the first update."""
    scheduler: str = ""
    """The class of its scheduler of torch, if it has one."""
    scheduler_frame: Frame | None = None
    """Where the user built that."""
    calls: int = 0
    """Calls of its step."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class RateFaded(Fact, frozen=True, kw_only=True):
    """At the end: a learning rate that the loop writes itself and that was next to nothing in many updates."""

    ABOUT = "an optimizer"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built the optimizer."""
    peak: Number
    """The largest rate of the run."""
    rate: Number
    """The rate of the last update."""
    updates: int
    faded: int
    """Updates with a rate above 0 and below `FADED` of the peak so far."""
    since: int
    """The first step of them."""
    falls: int
    """Updates before them with a lower rate than the one before."""
    written: Frame | None = None
    """The line that writes the rate."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class RateHistory(Fact, frozen=True, kw_only=True):
    """At the end: the way that the learning rate of an optimizer went, the largest of its groups at each update."""

    ABOUT = "an optimizer"

    optimizer: int
    kind: str
    frame: Frame | None
    """Where the user built the optimizer."""
    built: Number
    """The largest rate that its groups were built with."""
    peak: Number
    rate: Number
    """That of the last update."""
    lowest: Number
    """The least since the peak was first reached."""
    lowest_at: int
    """Updates up to the last one with it."""
    lowest_step: int
    updates: int
    rises: int
    """Updates with a larger rate than the one before."""
    falls: int
    """Updates with a smaller one."""
    scheduler: str = ""
    """The class of its scheduler, if it has one."""
    scheduler_frame: Frame | None = None
    """Where the user built that."""
    value_frame: Frame | None = None
    """The line of the user's function that gave the factor, for a scheduler made of functions."""
    step_frame: Frame | None = None
    """The line that stepped it last."""
    rate_frame: Frame | None = None
    """Without a scheduler: the line that writes the rate."""
    loaded: Number | None = None
    """The rate that came with the optimizer's loaded state."""
    loaded_updates: int = 0
    """Updates that this state had seen."""
    loaded_frame: Frame | None = None
    """The line that loaded it."""
    first: Number | None = None
    """The rate of the first update after it."""

    def key(self) -> object:
        """Identify the optimizer that the fact is about."""
        return self.optimizer


class Schedule(Fact, frozen=True, kw_only=True):
    """One scheduler beside the updates of its optimizer, so far."""

    ABOUT = "a scheduler"

    scheduler: int
    kind: str
    frame: Frame | None
    """Where the user built it."""
    step_frame: Frame | None = None
    """The line that stepped it last."""
    calls: int = 0
    """Calls of step."""
    updates: int = 0
    """Updates of its optimizer since it was built."""
    other_updates: int = 0
    """Updates of other optimizers since it was built."""
    known: bool = True
    """Its optimizer holds parameters of a module the loop calls."""
    early: int = 0
    """Calls before the first update."""
    early_again: int = 0
    """Later calls from the line of an early one."""
    early_frame: Frame | None = None
    doubled: int = 0
    """Updates after which two lines stepped it."""
    doubled_frame: Frame | None = None
    """The second of the two."""
    micro: int = 0
    """Updates before which it was stepped as often as backward was called, and more than once."""
    per_update: int = 0
    """That number."""
    horizon: int | None = None
    """The number of calls it is made for, where its class has one."""
    horizon_word: str = ""
    last_epoch: int = 0
    loader: int | None = None
    """Batches of one pass of the training loader."""
    passes: int = 0
    """Passes of it that were begun."""
    rate: Number = 0.0
    peak: Number = 0.0
    fallen_at: int | None = None
    """Updates before the rate first fell below 1e-4 of its peak."""
    exhausted: bool = False
    """It refused a call: stepped beyond its end."""
    computed: Frame | None = None
    """Of a class of the user's: the line of its `get_lr` that computed the rate last, as far as that was seen."""
    ended: bool = False
    """The run is over."""

    def key(self) -> object:
        """Identify the scheduler that the fact is about."""
        return self.scheduler
