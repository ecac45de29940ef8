"""What all loss and gradient checks of one run share: two alarm series only, each value taken once."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

from debugtracer.spikes.average import Average
from debugtracer.spikes.detector import Detector
from debugtracer.spikes.episode import Episode
from debugtracer.spikes.level import Level
from debugtracer.spikes.moving import PLAYERS, exploded, goes_back, moving
from debugtracer.spikes.point import LEAST_Z
from debugtracer.spikes.rate_search import RateSearch
from debugtracer.spikes.record import Record
from debugtracer.spikes.residual import WIDTH
from debugtracer.spikes.swing import Swing, Swings
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.new_training import NewTraining
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.window import GRAD_L2, LOSS, LR, PARAM_L2, SCALE, Window

LR_CLIMB = 10.0  # times the geometric mean of all rates: a linear warm-up ends at e times it, a cosine at 4 (ours)
LR_JUMP, LR_STEPS = 3.0, 8  # times, steps before (ours): the rate is the cause (docs/rationale/checks.md#opt_lr_jump)
EARLY = 32  # updates over which the weights keep most of what they began with, at any rate that learns (ours)
LOSS_RISE = 0.02  # of the size the loss began with: a smaller rise is not worth an alarm however rare it is (ours)


class Monitor:
    """The state of the run that is judged. Fed by whichever check asks first at a step."""

    def __init__(self, least_z: float = LEAST_Z) -> None:
        self.window: Window | None = None
        self.least_z = least_z
        self.begin(least_z)

    def begin(self, least_z: float) -> None:
        """Reset to a run of which nothing is known yet."""
        self.loss, self.grad = Detector(LOSS_RISE, least_z), Detector(0.0, least_z)
        self.level, self.grad_level, self.swings = Level(), Level(), Swings()
        self.loss_record, self.grad_record = Record(), Record()
        self.grad_average = Average()
        self.lrs: deque[float] = deque(maxlen=WIDTH)
        self.search = RateSearch()
        self.lr_logs, self.lr_count = 0.0, 0
        """Sum of the logarithms of all learning rates above 0, and their number."""
        self.param_l2: float | None = None
        self.param_first, self.param_count, self.swept = 0.0, 0, 1.0
        """Norm of the parameters after the first update, how often it was seen, and how many times the first one it
        was within the early updates."""
        self.scale: float | None = None
        self.news: list[Episode] = []
        self.grad_news: list[Episode] = []
        self.jumps: deque[int] = deque(maxlen=WIDTH)
        """Steps at which the loss began to stand out, of alarms that tell something."""
        self.swing: Swing | None = None
        self.new_block = False
        self.moving = ""
        """Why the loss may rise in health, once that is known."""
        self.turns = False
        """Two optimizers take turns: the rates and losses of the series are now of one, now of the other."""
        self.asked_of: tuple[Fact | None, ...] = ()
        """The facts that the answer to it comes from."""
        self.loss_times = self.grad_times = self.param_times = 0.0

    def see(self, window: Window) -> None:
        """Take the values at a window; one that was seen already changes nothing."""
        if window is self.window:
            return
        self.window = window
        if window.new(NewTraining):
            self.begin(self.least_z)
        self.see_target(window)
        self.see_loss(window)
        self.see_gradient(window)
        self.see_update(window)
        if window.ended:
            self.news, self.grad_news = self.loss.end(), self.grad.end()
            self.remember()

    def remember(self) -> None:
        """Note where the alarms of this step began."""
        for episode in self.news:
            if episode.tells and not (self.excused or episode.ref.step in self.jumps):
                self.jumps.append(episode.ref.step)

    def see_target(self, window: Window) -> None:
        """Ask whether the loss chases a moving target, where a fact came that may say so."""
        known = (window.last(Wiring), window.last(StepOrder), window.last(TurnsTaken))
        if not self.asked_of or any(now is not then for now, then in zip(known, self.asked_of, strict=True)):
            self.asked_of = known
            self.moving, self.turns = self.moving or moving(window), self.turns or known[-1] is not None
        lr = window.now(LR)
        if (
            not self.turns
            and lr is not None
            and self.lrs
            and lr != self.lrs[-1]
            and goes_back(window, self.lrs[-1], lr)
        ):
            self.turns, self.moving = True, self.moving or PLAYERS

    def see_loss(self, window: Window) -> None:
        """Update level, swings, record and episodes of the loss."""
        loss = window.now(LOSS)
        self.news, self.swing, self.new_block, self.loss_times = [], None, False, 0.0
        if loss is None or not math.isfinite(loss):
            return
        self.loss_times = self.loss_record.push(loss)
        self.level.count += window.skipped
        self.new_block = self.level.push(loss)
        self.swing = self.swings.push(loss)
        self.news = self.loss.push(loss, window.ref)
        self.remember()

    def see_gradient(self, window: Window) -> None:
        """Record and episodes of the gradient norm; a norm of exactly 0 is a step without gradient, which tells nothing
        of its size."""
        norm = window.now(GRAD_L2)
        self.grad_news, self.grad_times, self.grad_average.fresh = [], 0.0, False
        if norm is None or not math.isfinite(norm) or norm <= 0:
            return
        self.see_scale(window)
        self.grad_times = self.grad_record.push(norm)
        self.grad_average.push(norm)
        self.grad_level.push(norm)
        self.grad_news = self.grad.push(norm, window.ref)

    def see_scale(self, window: Window) -> None:
        """Restart the gradient norm at a new loss scale: a new unit makes what was learnt of it void."""
        scale = window.now(SCALE)
        if scale is not None and self.scale is not None and scale != self.scale:
            self.grad.restart()
            self.grad_record, self.grad_average, self.grad_level = Record(), Average(), Level()
        self.scale = scale if scale is not None else self.scale

    def see_update(self, window: Window) -> None:
        """Update the learning rate and the size of the parameters."""
        lr, size = window.now(LR), window.now(PARAM_L2)
        if lr is not None:
            self.lrs.append(lr)
            self.search.push(lr, window.ref.step)
            if math.isfinite(lr) and lr > 0:
                self.lr_logs, self.lr_count = self.lr_logs + math.log(lr), self.lr_count + 1
        self.param_times = size / self.param_l2 if size is not None and self.param_l2 else 0.0
        if size is not None:
            self.param_l2 = size
            self.param_first = self.param_first or size
            self.param_count += 1
            if self.param_count <= EARLY and math.isfinite(size) and self.param_first > 0:
                self.swept = max(self.swept, size / self.param_first)

    @property
    def excused(self) -> str:
        """Why a finite loss that rises is no news: it chases a moving target, and the gradient has not exploded."""
        return "" if exploded(self.grad_level) else self.moving

    def lr_jump(self, ago: int = 1) -> float:
        """How many times the learning rate rose within LR_STEPS of the step `ago` values back (1: this one); 0 if less
        than LR_JUMP."""
        end = len(self.lrs) - ago + 1
        begin = max(end - 1 - LR_STEPS, 0)
        past, older = positive(list(self.lrs)[begin : max(end, 0)]), positive(list(self.lrs)[:begin])
        times = max(past[1:]) / past[0] if len(past) > 1 else 0.0
        # two optimizers with a rate each: it goes to and fro
        was_there = self.turns or (len(past) > 1 and max(past[1:]) <= max(older[-LR_STEPS:], default=0.0))
        return times if times >= LR_JUMP and not was_there else 0.0

    def lr_climb(self) -> float:
        """How many times the learning rate is above the geometric mean of all before; 0 if less than LR_CLIMB, which no
        linear or cosine warm-up reaches."""
        now = self.lrs[-1] if self.lrs else 0.0
        times = now / math.exp(self.lr_logs / self.lr_count) if self.lr_count and math.isfinite(now) else 0.0
        return times if times >= LR_CLIMB else 0.0


def positive(rates: Iterable[float]) -> list[float]:
    """The rates that are finite and above 0."""
    return [lr for lr in rates if math.isfinite(lr) and lr > 0]


def monitor(window: Window, least_z: float = LEAST_Z) -> Monitor:
    """The monitor of the run that is judged, with the values at this window taken."""
    shared = window.memories.setdefault("spikes", {})
    if least_z not in shared:
        shared[least_z] = Monitor(least_z)
    found: Monitor = shared[least_z]
    found.see(window)
    return found
