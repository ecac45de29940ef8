"""Did the gradient norm grow by orders of magnitude and take the weights with it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.spikes.lines import lines, rise_told
from debugtracer.spikes.monitor import Monitor, monitor
from debugtracer.spikes.rate_search import search_told
from debugtracer.spikes.residual import WIDTH
from debugtracer.spikes.summed_loss import MEAN, sum_place, sum_told, summed
from debugtracer.trace.facts.clipping import ClipLimit
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, LOSS, PARAM_L2, Window

MOSTLY = 0.5  # of the squared norm: the parameter that holds it is named (ours)


class ExplodingGrad(Check, frozen=True):
    """The gradient norm exceeds everything before it by orders of magnitude while the loss jumps.

    What it catches
        Gradients that explode through depth or time: recurrences, deep stacks without normalisation, a step too far
        with momentum.
    Why it matters
        Without a clip one such update replaces the weights; what was learnt is gone and the loss may never return.
    How it decides
        The norm is at least 10 times and the loss at least 3 times everything the run has shown (30 and 10 times while
        fewer than 32 steps are known), and the update changed the norm of the parameters by at least 5 % or was not
        measured. A clipped or bounded update leaves the parameters as they are, and it stays silent. No warm-up: it
        compares with the first step too, but where several optimizers take turns: their first losses and gradients are
        of several kinds. A learning rate that rose threefold in the 8 steps before, or that has climbed
        to 10 times its geometric mean of the run, is named as the cause; so is a loss that adds up its rows, where the
        only optimizer is SGD: the gradient is as many times that of their mean. A note where the program clips:
        the size of that gradient is not what hurt it; and where the rate is searched for (see
        optimizer/loss-divergence).
    What to do
        Clip the gradient norm before step(); shorten the recurrence, normalise, or lower the learning rate.
    Example
        step 1, rank 0: the gradient norm is 1811, 75 times the largest before, the loss 124.6, 147 times; the update
        multiplied the norm of the parameters by 6.6; expected less than 30 times. Clip before step():
        torch.nn.utils.clip_grad_norm_(params, 1.0).
    """

    times_grad: float = 10.0  # times the largest norm before (ours; Megatron asks 10 of the loss)
    times_loss: float = 3.0  # times the largest loss before, ours
    young_steps: int = 32  # steps for which the next two hold instead, ours
    young_grad: float = 30.0  # times the largest norm before, ours
    young_loss: float = 10.0  # times the largest loss before, ours
    times_params: float = 1.05  # times the norm of the parameters before the update, ours

    needs: ClassVar[tuple[str | type[Fact], ...]] = (GRAD_L2, LOSS, PARAM_L2, Health, Wiring)
    kind: ClassVar[str | None] = "exploding_gradients"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.7
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients", "lr-too-high")
    remedies: ClassVar[tuple[str, ...]] = (
        "clip before step(): torch.nn.utils.clip_grad_norm_(params, 1.0) (after unscale_ under a GradScaler)",
        (
            "lower the learning rate or the momentum; shorten the way: truncated backpropagation through time, "
            "residual connections, normalisation"
        ),
    )
    proved_by: ClassVar[str] = "optimizer/long_recurrence"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding at the first norm of that size; what follows within a window is the same explosion."""
        monitored = monitor(window)
        clip = window.last(ClipLimit)
        young = monitored.grad_record.count <= self.young_steps
        grad_limit, loss_limit = (self.young_grad, self.young_loss) if young else (self.times_grad, self.times_loss)
        if monitored.grad_times and monitored.loss_times:
            grad, loss = monitored.grad_times / grad_limit, monitored.loss_times / loss_limit
            what, jump, limit = (
                ("gradient norm by the largest before", monitored.grad_times, grad_limit)
                if grad < loss
                else ("loss by the largest before", monitored.loss_times, loss_limit)
            )  # both must jump: the lesser jump is how close it came
            self.measured(window, what, jump, limit)
        if monitored.grad_times < grad_limit or monitored.loss_times < loss_limit:
            return
        wiring = window.last(Wiring)
        if young and wiring is not None and len(wiring.optimizers) > 1:
            return
        if monitored.param_times and 1 / self.times_params < monitored.param_times < self.times_params:
            return
        notebook = window.memory(self)
        if window.ref.step - notebook.get("told", -WIDTH) < WIDTH:
            return
        notebook["told"] = window.ref.step
        yield self.describe(window, monitored, grad_limit, clip)

    def place(self, window: Window, jump: float) -> Place:
        """The lines, and the parameter with most of the gradient where a health snapshot of this very step names it."""
        place, health = lines(window, jump, rate=bool(jump)), window.last(Health)
        if health is None or health.ref.step != window.ref.step:
            return place
        squares = {name: as_float(row.l2) ** 2 for name, row in health.of("gradient").items()}
        name = max(squares, key=squares.__getitem__, default="")
        if not name or not squares[name] > MOSTLY * sum(squares.values()):
            return place
        return msgspec.structs.replace(place, param=name, module=name.rpartition(".")[0])

    def advised(self, clip: ClipLimit | None, whole: LossCall | None) -> tuple[str, ...]:
        """What to do, where that is not what the class says."""
        if whole is not None:
            return (f"reduction='mean', or a rate divided by {whole.input_shape[0]}", *self.remedies)
        return () if clip is None else ("look at the batch of this step", self.remedies[1])

    def describe(self, window: Window, monitored: Monitor, limit: float, clip: ClipLimit | None) -> Finding:
        """The jump of all three."""
        norm, loss = window.now(GRAD_L2) or 0.0, window.now(LOSS) or 0.0
        jump = monitored.lr_jump()
        climb = 0.0 if jump else monitored.lr_climb()
        wrecked = (
            f"; the update multiplied the norm of the parameters by {monitored.param_times:.3g}"
            if monitored.param_times
            else ""
        )
        wrecked += rise_told(window, jump)
        wrecked += f"; the learning rate had climbed to {climb:.3g} times its mean so far" if climb else ""
        advice = "Clip before step(): torch.nn.utils.clip_grad_norm_(params, 1.0)."
        if clip is not None:
            advice = f"The program clips at {clip.limit:g} already: look at the batch of this step."
        whole = summed(window) if clip is None and not jump and not climb else None
        if whole is not None:
            wrecked, advice = wrecked + sum_told(whole), MEAN
        searched = monitored.search.times(window)
        return self.finding(
            window,
            "warning" if (clip is None or jump or climb) and not searched else "note",
            f"the gradient norm is {norm:.4g}, {monitored.grad_times:.3g} times the largest before, the loss "
            f"{loss:.4g}, "
            f"{monitored.loss_times:.3g} times{wrecked}; expected less than {limit:.0f} times. "
            f"{advice}{search_told(searched)}",
            remedies=self.advised(clip, whole),
            place=self.place(window, jump or climb) if whole is None else sum_place(whole),
            kind="lr_too_high" if jump or climb or whole else None,
            grad_l2=norm,
            loss=loss,
            grad_times=monitored.grad_times,
            grad_limit=limit,
            loss_times=monitored.loss_times,
            param_times=monitored.param_times,
            lr_jump=jump,
        )
