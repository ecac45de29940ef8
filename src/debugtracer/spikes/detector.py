"""The detector of one series: residuals, point alarm, change alarm, and the episode that is open."""

from __future__ import annotations

from collections import deque

from debugtracer.spikes.change import DOUBT, ChangePoint
from debugtracer.spikes.episode import STRONG, SUSPICION_STEPS, Episode
from debugtracer.spikes.point import LEAST_Z, PointAlarm
from debugtracer.spikes.residual import WIDTH, Residual, Residuals
from debugtracer.spikes.rises import Rises
from debugtracer.trace.step import StepRef

STORM, STORM_STEPS = 20, 50  # alarms within so many steps: all is learnt anew (docs/rationale/spikes.md#lessons)

UP = 1.0  # MAD; a change of level below it is not a rise (ours)


class Detector:
    """Takes the finite values of a series in order. `news` holds the episodes that changed at the last value: opened,
    confirmed, settled."""

    def __init__(self, least_rise: float = 0.0, least_z: float = LEAST_Z) -> None:
        self.least_rise = least_rise
        """Rise that is worth an alarm, as a share of the size the series began with."""
        self.residuals, self.points, self.changes = Residuals(), PointAlarm(least_z), ChangePoint()
        self.rises = Rises()
        self.step = -1
        self.learnt = 0
        self.beyond: deque[int] = deque(maxlen=STORM)
        self.open: Episode | None = None
        self.last: Residual | None = None
        self.news: list[Episode] = []

    def push(self, value: float, ref: StepRef) -> list[Episode]:
        """The episodes that changed at this value, measured at `ref`."""
        self.step += 1
        self.learnt += 1
        self.news = []
        reading = self.last = self.residuals.push(value)
        if self.open is not None:
            self.follow(self.open, value, ref)
        if reading is not None:
            self.judge(reading, ref)
        return self.news

    def judge(self, reading: Residual, ref: StepRef) -> None:
        """Judge whether this value is the first of an episode."""
        change = self.changes.push(reading.z)
        threshold = self.points.threshold(self.step)
        beyond = reading.z > threshold and self.matters(reading) and self.is_news(reading)
        if beyond:
            self.beyond.append(self.step)
        if beyond and reading.z > STRONG * threshold and self.open is not None and not self.open.sudden:
            self.open = None  # a level that was in doubt; this value is none of it
        if self.open is None and self.learnt > WIDTH:
            if beyond:
                self.start(reading, ref, threshold, sudden=True)
            elif (
                change.probability > DOUBT and change.level > UP and self.changes.seen > WIDTH and self.matters(reading)
            ):
                self.start(reading, ref, threshold, sudden=False)
        if self.open is None:
            self.points.learn(self.step, reading.z)
            self.rises.learn(self.step, reading.value - reading.expected)
        elif len(self.beyond) == STORM and self.step - self.beyond[0] < STORM_STEPS and self.open.shape is None:
            self.beyond.clear()
            self.relearn()

    def matters(self, reading: Residual) -> bool:
        """True for a rise that a person would call one: a loss of 1e-5 may jump tenfold and mean nothing, or one that
        wanders about 0."""
        if not reading.beyond_signed:
            return False
        if self.least_rise == 0.0:
            return True
        return reading.value - reading.expected > self.least_rise * self.residuals.start

    def is_news(self, reading: Residual) -> bool:
        """False for one value that rises no higher than several before: the hard sample of a small batch."""
        return self.least_rise == 0.0 or reading.value - reading.expected > self.rises.usual(self.step)

    def start(self, reading: Residual, ref: StepRef, threshold: float, sudden: bool) -> None:
        """Open an episode at this value."""
        self.open = Episode(ref, reading, threshold, sudden)
        self.open.push(reading.value, ref.step)
        self.news.append(self.open)

    def follow(self, episode: Episode, value: float, ref: StepRef) -> None:
        """Add one value to the open episode."""
        episode.push(value, ref.step)
        if episode.refuted():
            self.open = None
        elif episode.proven():
            episode.confirmed = True
            self.news.append(episode)
        if self.open is not None and episode.settle():
            self.close(episode)

    def close(self, episode: Episode) -> None:
        """Close a settled episode; its size becomes part of what this run is known to do."""
        self.news.append(episode)
        self.points.learn(self.step, max(episode.above))
        self.rises.learn(self.step, episode.peak - episode.expected)
        self.open = None
        if episode.shape != "spike":
            self.relearn()

    def relearn(self) -> None:
        """Learn the series anew, for the run lives on another level."""
        self.residuals.reset()
        self.changes = ChangePoint()
        self.learnt = 0

    def restart(self) -> None:
        """Restart for a series that has another unit now: an open episode is dropped with what it was measured by."""
        self.open = None
        self.relearn()

    def end(self) -> list[Episode]:
        """The run is over: what is open is settled with what is known."""
        episode, self.open, self.news = self.open, None, []
        if episode is not None and len(episode.above) > SUSPICION_STEPS:
            episode.settle(ended=True)
            self.news = [episode]
        return self.news
