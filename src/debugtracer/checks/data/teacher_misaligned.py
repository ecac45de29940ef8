"""Do soft targets and labels of one prediction belong to the same sample?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.soft_target import SoftTarget
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SPREADS = 5.0  # standard deviations of chance that tell from it (ours)
WITHIN = 2.0  # standard deviations above chance that are still chance (ours)
ONE_CLASS = 0.9  # share of rows of one class, above which nothing can be told (ours)


class TeacherMisaligned(Check, frozen=True):
    """The distributions of a teacher are those of other samples than the labels that the same prediction is scored
    against.

    What it catches
        Outputs of a teacher that were computed once over a shuffled loader and are looked up by the number of the
        batch, or by an index that was shuffled or shifted since; classes in another order than the labels.
    Why it matters
        The larger part of the loss asks for the answers to other samples. The student learns their average.
    How it decides
        In inspected steps the most probable class of each row is compared with the label of the row, where both score
        one prediction and the distribution was not computed in the step. In `looks` of them and at least `rows` rows
        they agree no more often than two independent draws of their classes, though the distributions are as sure of
        their class as would show. Rows moved within the batch, and the samples a model was given when it made the rows,
        are tried to see whether they agree then.
    What to do
        Look the outputs up by the index of the sample, or call the teacher on the batch in hand.
    Example
        step 300, rank 0: the soft targets of kl_div (kd.py:45), taken (kd.py:74), name the class of the label in 13 of
        128 rows, as chance would (13.1), though they give their class 45 % on average; expected those of the same
        samples: 0 of 128 were made of the sample that they score (kd.py:50), and 4 of 5 name the label of the sample
        that they were made of. Look them up by the index of the sample, or call the teacher on the batch in hand.
    """

    needs: ClassVar[tuple[type[SoftTarget]]] = (SoftTarget,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "keep the outputs of the teacher by the index of the sample, and look them up by it: outputs[index]",
        "or call the teacher in each step, on the batch in hand",
    )
    proved_by: ClassVar[str] = "data/bat_calls_taught"

    looks: int = 2  # inspected steps (ours)
    rows: int = 96  # compared in all (ours)
    least_lift: float = 0.1  # probability above chance that the distributions give their class (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Collect the looks at each line; said once, and never of a line that was seen to agree."""
        memory = window.memory(self)
        for fact in window.new(SoftTarget):
            line = fact.loss_frame, fact.frame
            looks = memory.get(line, [])
            if looks is None:
                continue
            memory[line] = looks = [*looks, fact]
            agreed, chance, spread = agreement(looks)
            if agreed > chance + SPREADS * spread:
                memory[line] = None
            elif self.apart(looks, agreed, chance, spread):
                memory[line] = None
                yield self.describe(window, looks, agreed, chance)

    def apart(self, looks: list[SoftTarget], agreed: float, chance: float, spread: float) -> bool:
        """Whether the two have nothing to do with one another, in enough rows to tell."""
        count = sum(len(f.soft) for f in looks)
        if len(looks) < self.looks or count < self.rows or agreed > chance + WITHIN * spread:
            return False
        classes = Counter(c for f in looks for c in f.soft).most_common(1)[0][1]
        labels = Counter(c for f in looks for c in f.hard).most_common(1)[0][1]
        lift = sum(f.top * len(f.soft) for f in looks) - chance
        return max(classes, labels) < ONE_CLASS * count and lift > max(self.least_lift * count, SPREADS * spread)

    def describe(self, window: Window, looks: list[SoftTarget], agreed: int, chance: float) -> Finding:
        """Build the finding with what would make the two agree."""
        last, count = looks[-1], sum(len(f.soft) for f in looks)
        top = sum(f.top * len(f.soft) for f in looks) / count
        taken = f", taken{spot(last.frame)}," if last.frame is not None else ""
        return self.finding(
            window,
            "warning",
            f"the soft targets of {last.loss}{spot(last.loss_frame)}{taken} name the class of the label in {agreed} of "
            f"{count} rows, as chance would ({chance:.1f}), though they give their class {100 * top:.0f} % on average; "
            f"expected those of the same samples{tried(looks)}",
            ref=last.ref,
            place=Place(frame=last.frame or last.made or last.loss_frame, symptom_frame=last.loss_frame),
            agreed=agreed,
            rows=count,
        )


def agreement(looks: Sequence[SoftTarget]) -> tuple[int, float, float]:
    """The rows whose most probable class is the label, how many would be by chance, and the standard deviation of
    that."""
    agreed = sum(a == b for f in looks for a, b in zip(f.soft, f.hard, strict=True))
    soft, hard = Counter(c for f in looks for c in f.soft), Counter(c for f in looks for c in f.hard)
    count = max(sum(soft.values()), 1)
    share = sum(soft[c] * hard[c] for c in soft) / count**2
    return agreed, share * count, math.sqrt(max(share * (1 - share) * count, 1.0))


def tried(looks: Sequence[SoftTarget]) -> str:
    """What makes the two agree, and what to do about it."""
    known = [pair for f in looks for pair in zip(f.samples, f.made_of, strict=False)]
    same = sum(a == b for a, b in known)
    made = next((f.made for f in looks if f.made is not None), None)
    if known and same > len(known) / 2:
        return (
            f". {same} of {len(known)} were made of the sample that they score{spot(made)}: the teacher knows no more "
            "than chance. Train it, or load its weights."
        )
    if known:
        own = f": {same} of {len(known)} were made of the sample that they score{spot(made)}"
        agreed, asked = with_own_labels(looks)
        proved = f", and {agreed} of {asked} name the label of the sample that they were made of" if asked else ""
        return own + proved + ". Look them up by the index of the sample, or call the teacher on the batch in hand."
    shift, agreed, count = moved(looks)
    if shift:
        return f"; moved by {shift} rows, {agreed} of {count} agree. Take both from the same rows."
    if permuted(looks):
        return ". Each class goes with one other class: put the classes of both into one order."
    return (
        ". Look them up by the index of the sample, or call the teacher on the batch in hand; if both are so, the "
        "teacher was not trained."
    )


def with_own_labels(looks: Sequence[SoftTarget]) -> tuple[int, int]:
    """The rows made of a sample whose label was seen: those that name its label, and how many there are."""
    labels = {sample: label for f in looks for sample, label in zip(f.samples, f.hard, strict=False)}
    pairs = [(s, labels[i]) for f in looks for s, i in zip(f.soft, f.made_of, strict=False) if i in labels]
    return sum(a == b for a, b in pairs), len(pairs)


def moved(looks: Sequence[SoftTarget]) -> tuple[int, int, int]:
    """The number of rows to move the labels by so that they agree in all looks; 0 where none is clear."""
    rows = min(len(f.soft) for f in looks)
    _, chance, spread = agreement(looks)
    best = (0, 0, 1)
    for shift in [s for n in range(1, rows // 2) for s in (n, -n)]:
        pairs = [p for f in looks for p in zip(f.soft[max(shift, 0) :], f.hard[max(-shift, 0) :], strict=False)]
        agreed = sum(a == b for a, b in pairs)
        if agreed * best[2] > best[1] * len(pairs):
            best = shift, agreed, len(pairs)
    count = sum(len(f.soft) for f in looks)
    return best if best[1] / best[2] > (chance + 2 * SPREADS * spread) / count else (0, 0, 0)


def permuted(looks: Sequence[SoftTarget]) -> bool:
    """Whether the two depend on one another though they differ: chi squared of their counts."""
    pairs = Counter(p for f in looks for p in zip(f.soft, f.hard, strict=True))
    soft, hard = Counter(c for f in looks for c in f.soft), Counter(c for f in looks for c in f.hard)
    count = sum(pairs.values())
    chi = sum((pairs[a, b] - soft[a] * hard[b] / count) ** 2 / (soft[a] * hard[b] / count) for a in soft for b in hard)
    free = max((len(soft) - 1) * (len(hard) - 1), 1)
    return chi > free + 2 * SPREADS * math.sqrt(2 * free)
