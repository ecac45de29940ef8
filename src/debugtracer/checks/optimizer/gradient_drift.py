"""Does the gradient norm grow away while the loss still looks normal?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.spikes.episode import Episode
from debugtracer.spikes.loop_change import is_redefined
from debugtracer.spikes.monitor import Monitor, monitor
from debugtracer.spikes.other_data import other_data
from debugtracer.spikes.residual import WIDTH
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.window import GRAD_L2, LOSS, Window

LEFT = ", and the loss left its level at step"
ADVICE = "Look at this step first: it began here."
STREAK = 5  # rises in a row (docs/rationale/checks.md#momentum-drift)


class GradientDrift(Check, frozen=True):
    """The gradient norm left its level, and the loss followed: where it began, never more than a note.

    What it catches
        Gradients that pile up, an optimizer that begins to lose its way, batches of other data, before the loss showed
        it.
    Why it matters
        The gradient norm often leads the loss by some steps: the fault lies where the norm left, not where the loss
        did.
    How it decides
        An outlier of the log norm (see loss-spike, same rule) or a change of its level that stays, or two of three
        rules on its moving average (0.9): above the mean of the last 100 by 3 standard deviations, 5 rises of 15 % in a
        row, 1.5 times the first 100. Told when the loss leaves its level too within `follow` steps, by a
        strong outlier, by several, or for good: in healthy runs the norm strays now and then. Told again only of a norm
        of twice the size. Silent for 64 (150) steps, where the loss chases a moving target, and where another dataset
        is read from that step on: another task.
    What to do
        Look at the batch and the update of this step rather than at those of the loss.
    Example
        step 500, rank 0: the gradient norm is 15.2 (expected 0.4817, 122 MAD above), and the loss left its level at
        step 512; expected at most 7 MAD. Look at this step first: it began here.
    """

    rise: float = 1.15  # times per step, a common rule of thumb
    sigma: float = 3.0  # standard deviations over the last 100, a common rule of thumb
    initial: float = 1.5  # times the average of the first 100, a common rule of thumb
    further: float = 2.0  # times the norm that was told before, for another note (ours)
    follow: int = 200  # steps within which the loss has to follow (ours)

    needs: ClassVar[tuple[str, ...]] = (GRAD_L2, LOSS)
    at_end: ClassVar[bool] = True
    least_values: ClassVar[int] = WIDTH + 1
    kind: ClassVar[str | None] = None
    symptom: ClassVar[str] = "loss_spike"
    family: ClassVar[str] = "gradient"
    suspects: ClassVar[tuple[str, ...]] = ("exploding-gradients", "lr-too-high")
    proved_by: ClassVar[str] = "data/foreign_batch"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield what the norm showed before the loss left its level."""
        monitored, held = monitor(window), window.memory(self).setdefault("held", [])
        held += self.strays(window, monitored)
        ends = [e.ref.step for e in monitored.news if e.tells] if not monitored.excused else []
        for finding in list(held):
            at = next((step for step in ends if 0 <= step - finding.step <= self.follow), None)
            if at is not None:
                due = msgspec.structs.replace(finding, message=finding.message.replace(LEFT, f"{LEFT} {at}"))
                window.memory(self).setdefault("due", []).append((at, due))
            if at is not None or window.ref.step - finding.step > 2 * self.follow:
                held.remove(finding)
        yield from self.due(window)

    def due(self, window: Window) -> Iterator[Finding]:
        """Yield what the loss has followed, two steps later: what the loop did in that step is known by then."""
        waiting: list[tuple[int, Finding]] = window.memory(self).setdefault("due", [])
        for at, finding in list(waiting):
            if window.ref.step <= at + 1 and not window.ended:
                continue
            waiting.remove((at, finding))
            own = other_data(window, finding.step) or is_redefined(window, finding.step)
            if not own and self.is_news(window, finding):
                yield finding

    def is_news(self, window: Window, finding: Finding) -> bool:
        """Whether the norm left its level for one of another size than what was told before."""
        memory = window.memory(self)
        norm = as_float(finding.evidence.get("grad_l2", finding.evidence.get("average", 0.0)))
        if norm <= self.further * memory.get("largest", 0.0):
            return False
        memory["largest"] = norm
        return True

    def strays(self, window: Window, monitored: Monitor) -> Iterator[Finding]:
        """A note for each outlier or change of level, and once for a moving average that runs away."""
        for episode in monitored.grad_news:
            if (episode.sudden and len(episode.values) == 1) or (
                not episode.sudden and episode.shape in ("drift", "divergence")
            ):
                yield self.left(window, episode)
        yield from self.average(window, monitored)

    def left(self, window: Window, episode: Episode) -> Finding:
        """An outlier, or another level."""
        first = episode.first
        stays = "" if episode.sudden else f" and stays up after {len(episode.above)} steps"
        digits = int(f"{first.z:.0f}" == f"{episode.threshold:.0f}")
        limit = f"at most {episode.threshold:.{digits}f} MAD" if episode.sudden else "it to come back"
        return self.finding(
            window,
            "note",
            f"the gradient norm is {first.value:.4g} (expected {first.expected:.4g}, {first.z:.{digits}f} MAD above)"
            f"{stays}{LEFT}; expected {limit}. {ADVICE}",
            ref=episode.ref,
            grad_l2=first.value,
            expected=first.expected,
            z=first.z,
        )

    def average(self, window: Window, monitored: Monitor) -> Iterator[Finding]:
        """Yield if two of the three rules on the moving average of the norm agree."""
        drift = monitored.grad_average
        signs = drift.signs(self.rise, self.sigma, self.initial, STREAK) if drift.fresh else ()
        if len(signs) >= 2 and not window.memory(self).setdefault("told", False):
            window.memory(self)["told"] = True
            yield self.finding(
                window,
                "note",
                f"the moving average of the gradient norm is {drift.value:.4g}: {' and '.join(signs)}"
                f"{LEFT}; expected at most one of these. {ADVICE}",
                average=drift.value,
            )
