"""Does step() change the parameters?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.effects import Effect
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class NoUpdate(Check, frozen=True):
    """step() runs, gradients and learning rate are there, and the parameters stay what they were.

    What it catches
        An optimizer of your own that assigns to a local name (`p = p - lr * g`) or updates a copy, a wrapper that does
        not pass step() on; one that stops in the middle of a run (a compiled or cached step that lost its parameters).
    Why it matters
        Nothing is learned and no error says so.
    How it decides
        A sample of each parameter before and after step(): where the gradient is finite and the learning rate times it
        (at most 1) is 8 float spacings of the weight or more, a healthy update shows. None of these elements changed in
        three looks running. An optimizer that is not torch's own may collect gradients inside, so it gets 20 updates,
        or the whole run if that is shorter. Where an optimizer had moved everything before, the next two updates are
        looked at as soon as one moves nothing, or leaves a parameter without a single write.
    What to do
        Write in place: `p.add_(g, alpha=-lr)` under `torch.no_grad()`.
    Example
        step 2, rank 0: step() of Sgd (train.py:31) left 0.weight and 3 more of 4 parameters unchanged in 3 looks
        running, though gradient and learning rate are large enough; expected a change. Update parameters in place.
    """

    needs: ClassVar[tuple[type[Effect]]] = (Effect,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "parameters_not_updated"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "write in place under torch.no_grad(): p.add_(p.grad, alpha=-lr)",
        "pass step() on to the inner optimizer",
    )
    family: ClassVar[str] = "update"
    proved_by: ClassVar[str] = "optimizer/own_descent"

    looks: int = 3  # running (ours)
    patience: int = 20  # updates of an optimizer that is not torch's own (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer."""
        memory = window.memory(self)
        for fact in window.new(Effect):
            if fact.expected:
                memory[fact.optimizer] = [*memory.get(fact.optimizer, []), fact] if fact.unchanged_count else []
        for facts in [f for f in memory.values() if len(f) >= self.looks]:
            same = sorted(set.intersection(*(set(f.unchanged) for f in facts[-self.looks :])))
            last: Effect = facts[-1]
            if same and (last.by_torch or window.ended or last.number >= self.patience):
                if last.stopped is not None:
                    yield self.describe_stop(window, facts[0], last)
                    continue
                more = f" and {last.unchanged_count - 1} more" if last.unchanged_count > 1 else ""
                yield self.finding(
                    window,
                    "error",
                    f"step() of {last.kind}{spot(last.frame)} left {last.unchanged[0]}{more} of "
                    f"{last.expected} parameters unchanged in {self.looks} looks "
                    "running, though gradient and learning rate are large "
                    "enough; expected a change. Update parameters in place.",
                    ref=facts[0].ref,
                    place=Place(param=last.unchanged[0], frame=last.frame),
                    unchanged=last.unchanged_count,
                    expected=last.expected,
                )

    def describe_stop(self, window: Window, first: Effect, last: Effect) -> Finding:
        """An optimizer that worked before: where it is built is not where to look."""
        return self.finding(
            window,
            "error",
            f"step() of {last.kind}{spot(last.called or last.frame)} has stopped changing parameters: its update "
            f"{last.stopped} moved them, and in {self.looks} looks from update {first.number} on none of "
            f"{last.expected} moves, though gradient and learning rate are large enough; expected a change. See what "
            "its step() keeps from call to call.",
            ref=first.ref,
            place=Place(frame=last.called or last.frame, symptom_frame=last.frame),
            unchanged=last.unchanged_count,
            expected=last.expected,
        )
