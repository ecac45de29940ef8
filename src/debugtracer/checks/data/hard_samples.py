"""Does the loss jump because the samples of these batches are unlike all others?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named
from debugtracer.spikes.residual import Residual, Residuals
from debugtracer.trace.facts.batch_content import BatchOddity, ElementOdd
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.stored_rows import StoredOddity
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

TOKENS = "token histogram"  # the detail of a fact about ids, which no line of values made
UNIT = "scale each record by the range of its own dtype: np.iinfo(x.dtype).max of whole numbers, 1 of floats"
KEPT = 16  # steps whose anomalies are remembered (ours)


@dataclass
class Run:
    """Steps in a row whose batches are unlike the others, from one whose loss jumped."""

    first: Residual
    facts: list[BatchOddity] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    before: float = 0.0
    """The largest z of the steps before."""


class HardSamples(Check, frozen=True):
    """The loss jumps in exactly the batches whose content is unlike that of all batches before.

    What it catches
        A shard of another kind in the stream (a dump among prose, another language), records in another unit, a corrupt
        file.
    Why it matters
        The jump looks like a bad learning rate. Lowering it does not help; the batches are hard whatever the optimizer
        does.
    How it decides
        Two things at once: the loss lies `z` deviations (robust, log scale) and a quarter above the line through the
        steps before, and the batch of the same step is far from the learnt profile (divergence of its token histogram,
        its mean or spread, values beyond the range). Unlike batches in a row are one run; after more than `longest` of
        them it is another data set, not a spike (data/scale-drift). Without a difference in content it stays silent:
        then the samples do not explain the jump. One batch alone is a note below `alone` deviations or `beyond` times
        the largest of the jumps before it, unless the loss is `far` times what was expected: values with heavy tails
        make such batches all the time. A note, too, where the loop loaded weights right before it: another task or
        stage may begin there. Of one batch the number is told that makes a row unlike the others, with the line of the
        data file that it stands on.
    What to do
        Look at the samples; filter the shard, shuffle across shards, or skip batches with an extreme loss.
    Example
        step 120, rank 0: the loss rises to 6.99 (expected 0.98) in 4 steps whose batches are unlike all before: token
        histogram of batch[0] 7.14 nats from the usual 0.03 (samples 1920..1983); expected samples like the others.
        Filter or shuffle that part of the data.
    """

    needs: ClassVar[tuple[str | type, ...]] = (LOSS, BatchOddity, StoredOddity, Resumed)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_hard_samples"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "look at these samples, and filter the part of the data they come from",
        "shuffle across files or shards, so that such samples do not come all at once",
        "skip batches with an extreme loss, or clip the gradient",
    )
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    proved_by: ClassVar[str] = "data/ticket_dump"

    z: float = 8.0  # robust z of the log loss at the first step (that of loss-spike while the run is young)
    rise: float = 1.25  # times the expected loss, at least (ours)
    # robust z of a single batch that is loud: single batches of Student-t noise reach 19, planted records 45 (ours)
    alone: float = 24.0
    beyond: float = 2.0  # times the largest z before it (ours)
    far: float = 100.0  # times the expected loss, however much losses scatter (ours): no tail reaches that
    longest: int = 7  # unlike batches in a row; more are a new data set, and are learnt as the usual (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when a run of such batches is over."""
        notes = window.memory(self)
        odd: dict[int, list[BatchOddity]] = notes.setdefault("odd", {})
        for fact in (*window.new(BatchOddity), *window.new(StoredOddity)):
            if fact.what in ("content", "range") and fact.training:
                odd.setdefault(fact.ref.step, []).append(fact)
        for loaded in window.new(Resumed):
            notes["loaded"] = loaded.ref.step
        loss = window.now(LOSS)
        if loss is not None:
            yield from self.step(window, notes, odd.pop(window.ref.step, []), loss)
            for old in [step for step in odd if step < window.ref.step - KEPT]:
                del odd[old]
        if window.ended and notes.get("run") is not None:
            yield from self.close(window, notes)

    def step(self, window: Window, notes: dict[Any, Any], odd: list[BatchOddity], loss: float) -> Iterator[Finding]:
        """Open, continue or close a run of bad batches at one step."""
        residuals: Residuals = notes.setdefault("residuals", Residuals())
        reading = residuals.push(loss)
        run: Run | None = notes.get("run")
        if run is not None and odd:
            run.facts += odd
            run.losses.append(loss)
            if len(run.losses) > self.longest:
                notes["run"], notes["moved"] = None, True
            return
        if run is not None:
            yield from self.close(window, notes)
        if not odd:
            notes["moved"] = False
        elif (
            reading is not None
            and not notes.get("moved")
            and reading.z > self.z
            and loss > reading.expected + (self.rise - 1) * abs(reading.expected)
        ):
            notes["run"] = Run(reading, list(odd), [loss], before=notes.get("largest", 0.0))
            return
        if reading is not None:
            notes["largest"] = max(notes.get("largest", 0.0), reading.z)

    def close(self, window: Window, notes: dict[Any, Any]) -> Iterator[Finding]:
        """Yield the finding of a run of bad batches that is over."""
        run: Run = notes["run"]
        notes["run"] = None
        tail = len(run.losses) == 1 and run.first.z < max(self.alone, self.beyond * run.before)
        tail = tail and not 0 < self.far * run.first.expected <= run.losses[0]
        begins = notes.get("loaded") == run.facts[0].ref.step
        if tail:
            notes["largest"] = max(notes.get("largest", 0.0), run.first.z)
        yield self.describe(window, run, tail or begins)

    def describe(self, window: Window, run: Run, quiet: bool) -> Finding:
        """How high, for how long, unlike in what, and which samples."""
        narrow = [f for f in run.facts if f.what == "range"] or run.facts
        samples = tuple(dict.fromkeys(s for f in narrow for s in f.samples or ()))
        worst = max(narrow, key=lambda f: abs(as_float(f.value) - as_float(f.usual)) / max(as_float(f.spread), 1e-12))
        first = run.facts[0]
        many = f"{len(run.losses)} steps whose batches are" if len(run.losses) > 1 else "one step whose batch is"
        call = window.last(LossCall)
        one = next((f.element for f in narrow if f.element is not None), None) if len(run.losses) == 1 else None
        of = f" ({named(samples)}{element_told(one)})" if samples else ""
        return self.finding(
            window,
            "note" if quiet else "warning",
            f"the loss rises to {max(run.losses):.4g} (expected {run.first.expected:.4g}) in {many} unlike all before: "
            f"{unlike(worst)}{of}; {expected(worst, one)}",
            ref=first.ref,
            place=Place(
                frame=(worst.made[0] if worst.detail != TOKENS and worst.made else None)
                or first.loader.made_at
                or first.loader.frame,
                symptom_frame=call.frame if call is not None else None,
                sample_index=samples or None,
                batch_rows=narrow[0].rows if len(run.losses) == 1 else None,
            ),
            remedies=(UNIT, *self.remedies) if worst.form else (),
            loss=max(run.losses),
            expected=run.first.expected,
            steps=len(run.losses),
        )


def element_told(one: ElementOdd | None) -> str:
    """Say which number of its row it is, what the other rows have there, and where it is written."""
    if one is None:
        return ""
    where = f"element {', '.join(map(str, one.place))}" if one.place else "it"
    at = f" ({file_line(one.record)}: `{one.record.code}`)" if one.record is not None else ""
    return (
        f": {where} is {as_float(one.value):.7g}{at}, the other rows of the batch have {as_float(one.low):.4g} to "
        f"{as_float(one.high):.4g}"
    )


def expected(fact: BatchOddity, one: ElementOdd | None = None) -> str:
    """Say what was expected and what to do: of a record that is kept in another dtype, in its own range; of a count
    among counts, on the scale of its logarithm."""
    if fact.form:
        return f"{fact.form}; expected each scaled by its own range. Scale it by the range of its dtype."
    counts = one is not None and as_float(one.low) >= 0 and as_float(one.value) > 0
    if counts and one is not None and all(as_float(v) == int(as_float(v)) for v in (one.value, one.low, one.high)):
        return (
            "expected samples like the others. Mend that record; or, if such counts are right, take log(1 + x) of them."
        )
    return "expected samples like the others. Filter or shuffle that part of the data."


def unlike(fact: BatchOddity) -> str:
    """Say in which quantity a batch differs, and from what usual value."""
    value, usual = as_float(fact.value), as_float(fact.usual)
    if fact.what == "range":
        return f"{fact.path} reaches {value:.4g}, usual is up to {usual:.4g}"
    if fact.detail == TOKENS:
        return f"token histogram of {fact.path} {value:.3g} nats from the learnt one, usual are {usual:.2g}"
    return f"{fact.detail} of {fact.path} is {value:.3g}, usual is {usual:.3g}"
