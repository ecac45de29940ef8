"""Did the loss jump far out of its own past, and come back?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.spikes.chance import chance
from debugtracer.spikes.episode import Episode
from debugtracer.spikes.lines import lines
from debugtracer.spikes.loop_change import loop_change, redefinition
from debugtracer.spikes.monitor import monitor
from debugtracer.spikes.residual import WIDTH
from debugtracer.spikes.sigma import Sigma
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.lost_values import LostValues
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.facts.same_values import SameValues
from debugtracer.trace.facts.stored_rows import FarValue, StoredLeaf, StoredRows
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.went_back import WentBack
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, LOSS, LR, Window

MOST = 256  # samples named
ROWS = 32  # a batch of fewer is small: one row that is hard makes its mean (ours)


class LossSpike(Check, frozen=True):
    """The loss jumps for a few steps and returns.

    What it catches
        A batch of other data or broken labels, a learning-rate accident that heals: one to ten losses far above where
        the loss was going.
    Why it matters
        One update from such a batch can undo many good ones; the same spike later in training may not heal.
    How it decides
        On log loss (asinh where losses are negative), against a line through medians of the last 64 values, in units of
        their median absolute deviation (MAD): above 6, above 1.3 times the largest value of the last 500 steps
        (at most 20, unless three were as large), a rise of at least 2 % of the first losses, and of 1.3 times the third
        largest rise of the last 500 steps; where the last
        64 have both signs (REINFORCE), also above twice the largest size among them. Silent for the first 64
        values. A note at once if it reached twice the threshold (four times where losses are negative); settled
        when 16 steps in a row were normal again: a warning if it also reached 5 % of the first losses (all where the
        loss is next to nothing otherwise: a hinge that is met; of a batch of fewer than 32 rows as much more, as one
        hard row makes its mean; where the loss is below a tenth of the first ones and the jump is one step that is gone
        at the next, a fifth of what was gained), else a note. Below twice the threshold a note if it
        lasted more than one step, nothing if it did not. If the loss is back from one step to the next, the weights
        were sound and the batches were to blame, unless a roll-back of ours has put an earlier state back, or
        every step is given the same values (the whole set is one batch): then the note is all. Where
        several optimizers learn from different losses, or targets come from a copy of the model that moves, nothing is
        said unless the gradient norm rose a hundredfold and stays there, or the learning rate had just risen threefold.
        Where the tape shows that a line wrote weights in that step and in none of those before, or that a number of the
        loop left what it was, that line is named. Where a layer was given zeros alone by right (a condition that is
        left out, a sensor that is missing) it is a note.
    What to do
        Look at the samples of these steps; skip or filter them, or clip gradients. If it does not heal, roll back.
    Example
        step 120, rank 0: the loss was 6.99 (expected 0.8741, 46 MAD above) for 4 steps and back from one step to the
        next, so the weights were sound and the batches are to blame; expected at most 8 MAD. Look at the samples of
        steps 120 to 123.
    """

    z_max: float = 6.0  # MAD: no false alarm in 5,600 healthy steps of a Transformer
    # standard deviations above the last 100 losses, a fixed rule (3 with `--preset seed`); 0 is off
    sigma_max: float = 0.0
    least_share: float = 0.05  # rise that is loud, as a share of the first losses, ours
    met: float = (
        0.01  # of the first losses: below it a loss is met (a hinge, a triplet), where one hard batch is no news
    )
    met_share: float = 1.0  # rise that is loud then, as a share of the first losses (ours)
    near: float = 0.1  # of the first losses: below it a loss is nearly met, and one step above it a hard batch (ours)
    brief_share: float = 0.2  # rise of one step that is loud then, as a share of what training has gained (ours)

    needs: ClassVar[tuple[str | type[Fact], ...]] = (
        LOSS,
        GRAD_L2,
        LR,
        LoopChange,
        LossCall,
        OutlyingBatch,
        SameValues,
        StepOrder,
        StoredRows,
        TurnsTaken,
        WentBack,
        Wiring,
    )
    at_end: ClassVar[bool] = True
    least_values: ClassVar[int] = WIDTH + 1
    kind: ClassVar[str | None] = "loss_spike"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.5
    family: ClassVar[str] = "loss"
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the samples of these steps; filter them or skip batches whose loss is extreme",
        "clip gradients: torch.nn.utils.clip_grad_norm_(params, 1.0) before step()",
    )
    proved_by: ClassVar[str] = "data/foreign_batch"

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note when a spike begins, the settled finding when it is over."""
        if self.sigma_max > 0:
            yield from self.far(window)
        seen = monitor(window, self.z_max)
        for episode in seen.news:
            jump = bool(seen.lr_jump(ago=len(episode.values)))
            # chance makes a weak jump of one step, and a moving target any
            if not episode.sudden or not (jump or (episode.tells and not seen.excused)):
                continue
            if episode.shape is None:
                yield self.opened(window, episode)
            elif episode.shape == "spike" and (
                jump or not (one_batch(window, episode) or redefinition(window, episode))
            ):
                yield self.settled(window, episode)

    def far(self, window: Window) -> Iterator[Finding]:
        """The fixed rule, for those who ask for it."""
        loss = window.now(LOSS)
        if loss is None:
            return
        sigma: Sigma = window.memory(self).setdefault("sigma", Sigma())
        distance = sigma.push(loss)
        if distance > self.sigma_max:
            yield self.finding(
                window,
                "warning",
                f"the loss is {loss:.4g}, {distance:.1f} standard deviations above the mean of the last 100; expected "
                f"at most {self.sigma_max:g}. "
                "Look at the samples of this step.",
                loss=loss,
                sigma=distance,
            )

    def opened(self, window: Window, episode: Episode) -> Finding:
        """Build the note at the first bad step, when it is not known yet whether the loss recovers."""
        first = episode.first
        return self.finding(
            window,
            "note",
            f"the loss is {first.value:.4g} (expected {first.expected:.4g}, {first.z:.0f} MAD above); expected at most "
            f"{episode.threshold:.0f} MAD. "
            "Whether it recovers is known in 32 steps.",
            loss=first.value,
            expected=first.expected,
            z=first.z,
            threshold=episode.threshold,
        )

    def place(self, window: Window, episode: Episode) -> Place:
        """The samples of the bad steps, as far as they were kept, and the loader they came from."""
        kept = [one for one in window.seen(OutlyingBatch) if one.ref.step in episode.steps[: episode.bad_steps]]
        samples = tuple(dict.fromkeys(index for one in kept for index in one.indices))
        known = chance(window)
        shown = known.frame if known else kept[0].backward if kept else None
        stored = far_rows(window, episode) if not kept else None
        if stored is not None:
            fact, leaf, _, rows = stored
            return Place(frame=(*leaf.made, fact.frame)[0], symptom_frame=shown or fact.call, sample_index=rows)
        return Place(frame=kept[0].frame if kept else None, symptom_frame=shown, sample_index=samples[:MOST] or None)

    def settled(self, window: Window, episode: Episode) -> Finding:
        """Build the finding of a jump that is over, with its shape and its steps."""
        seen = monitor(window, self.z_max)
        many = episode.bad_steps > 1
        steps, where = (
            (f"{episode.bad_steps} steps", f"steps {episode.ref.step} to {episode.last_bad}")
            if many
            else ("1 step", f"step {episode.ref.step}")
        )
        jump = seen.lr_jump(ago=len(episode.values))
        back = put_back(window, episode)
        changed = None if jump else loop_change(window, episode)
        abrupt = episode.abrupt and back is None and changed is None
        least = self.loud_rise(window, episode, seen.loss.residuals.start, abrupt and not many)
        loud = episode.strong and episode.peak - episode.first.expected >= least
        how, then = (
            f"healed slowly{after_rise(jump)}",
            "the learning rate and the update before it",
        )
        if back is not None:
            how = f"back after the state of step {back.to_step} was put back{after_rise(jump)}"
        elif abrupt:
            how, then = (
                "back from one step to the next, so the weights were sound and the batches are to blame",
                f"the samples of {where}{held(far_rows(window, episode))}",
            )
        zeros = left_out(window, episode) if abrupt else None
        if zeros is not None:
            loud, then = False, f"{where} first: the input of {zeros.module or 'a layer'} was 0 everywhere"
        if changed is not None:
            then = f"{changed.frame.file.rpartition('/')[2]}:{changed.frame.line} first: {changed.words}"
        place = self.place(window, episode) if abrupt else lines(window, jump)
        return self.finding(
            window,
            "warning" if loud else "note",
            f"the loss was {episode.peak:.4g} (expected {episode.expected:.4g}, {episode.size:.0f} MAD above) for "
            f"{steps} and {how}; "
            f"expected at most {episode.threshold:.0f} MAD. Look at {then}.",
            ref=episode.ref,
            place=place if changed is None else msgspec.structs.replace(place, frame=changed.frame),
            kind="data_hard_samples" if abrupt else "lr_too_high" if jump else None,
            confidence=0.7 if abrupt or jump else None,
            loss=episode.peak,
            expected=episode.expected,
            z=episode.size,
            threshold=episode.threshold,
            steps=episode.bad_steps,
        )

    def loud_rise(self, window: Window, episode: Episode, start: float, brief: bool) -> float:
        """How far above the expected loss a warning begins; `start` is the size of the first losses, `brief` a jump
        that was gone at the next step."""
        usual, least = episode.first.expected, self.least_share * start
        if abs(usual) < self.met * start:
            return self.met_share * few(window) * start
        return max(self.brief_share * (start - usual), least) if brief and abs(usual) < self.near * start else least


Stored = tuple[StoredRows, StoredLeaf, FarValue, tuple[int, ...]]


def far_rows(window: Window, episode: Episode) -> Stored | None:
    """The rows of stored data, taken in order, that hold a number far from all others in each of the bad steps."""
    fact = window.last(StoredRows)
    found = [fact.far_at(step) for step in episode.steps[: episode.bad_steps]] if fact is not None else []
    first = found[0] if found else None
    if fact is None or first is None or None in found:
        return None
    return fact, first[0], first[1], tuple(dict.fromkeys(row for one in found if one is not None for row in one[2]))


def held(stored: Stored | None) -> str:
    """Say which rows hold what, in brackets; nothing where it is not known."""
    if stored is None:
        return ""
    _, leaf, far, rows = stored
    return f" ({named(rows).replace('sample', 'row')} of {leaf.name}: {as_float(far.value):.4g})"


def few(window: Window) -> float:
    """How many times higher the mean of a batch rises by one row than that of ROWS; 1 where its rows are not known."""
    last = window.last(LossCall)
    rows = last.input_shape[0] if last is not None and last.input_grad and len(last.input_shape) > 1 else 0
    return ROWS / rows if 0 < rows < ROWS else 1.0


def left_out(window: Window, episode: Episode) -> LostValues | None:
    """The input of a layer that was 0 by right in a bad step: a condition that is left out now and then."""
    steps = episode.steps[: episode.bad_steps]
    return next((fact for fact in window.seen(LostValues) if fact.by_right and fact.ref.step in steps), None)


def one_batch(window: Window, episode: Episode) -> bool:
    """Whether it was over at once, and nothing is known to have changed, in a run whose steps get the same values: no
    batch differs from the others, so that none is to blame."""
    known = window.last(SameValues)
    unchanged = put_back(window, episode) is None and loop_change(window, episode) is None
    return known is not None and known.same and episode.abrupt and unchanged


def put_back(window: Window, episode: Episode) -> WentBack | None:
    """The roll-back of ours that ended the jump, where one did: then nothing is known of the batches."""
    ended = range(episode.ref.step, episode.last_bad + 3)  # a step whose loss was not finite is not in the episode
    return next((fact for fact in window.seen(WentBack) if fact.ref.step in ended), None)


def after_rise(jump: float) -> str:
    """The jump of the learning rate before, where there was one."""
    return f" after the learning rate had risen {jump:.3g}-fold" if jump else ""
