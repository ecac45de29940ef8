"""Do the weights of a sampler make up for the frequency of the classes?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.draw_weights import DrawWeights
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLOSE = 1.02  # times, between what one weight and another is to its class (ours: they were divided, not chosen)
APART = 2.0  # times, between the largest and the smallest class (ours)
EACH = 16  # rows drawn with a weight, of which the labels are compared (ours)
ALIKE = 0.15  # by which the share of a label differs at most between weights that do not know it (ours)
SIZES = 1.3  # times, between a class and the samples that have its weight (ours: of a part, counted from few rows)


class DrawsUnbalanced(Check, frozen=True):
    """The weights of a sampler grow with the classes, or are those of other samples.

    What it catches
        `WeightedRandomSampler([counts[y] for y in labels], ...)` where one by the count was meant;
        weights in the order of the labels before they were split or shuffled.
    Why it matters
        The frequent class is drawn even more often than it comes, with the square of its count; or the
        rare ones are drawn no more often than they come. The loss falls fast.
    How it decides
        The different weights of the sampler are counted, and which labels the first 16 batches bring with each. Each
        weight is to the samples that have it as all others, up to 2 % (classes of the same size share one), and one has
        twice as many as another. Or each weight is one by the samples that have it, up to 30 %, there are as many
        labels as weights, they are as frequent as those samples, and no label comes more often with one weight than
        with another.
    What to do
        `weights = (1 / counts)[labels]`: one number for each sample, in the order of the dataset that is loaded.
    Example
        step 4, rank 0: WeightedRandomSampler (train.py:12) weighs the samples of TensorDataset with 0.064, 0.146 and
        0.79, made at train.py:10, and 96, 219 and 1185 samples have them: the weight follows the frequency, so the
        smallest group, 0.064 of the samples, is 0.0063 of what is drawn; expected its inverse. Use 1 / counts.
    """

    needs: ClassVar[tuple[type[DrawWeights]]] = (DrawWeights,)
    kind: ClassVar[str] = "data_class_skew"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.93
    remedies: ClassVar[tuple[str, ...]] = (
        "one number for each sample, the inverse of how often its class comes: weights = (1 / counts)[labels]",
        "print the labels of a few batches",
    )
    proved_by: ClassVar[str] = "data/lichen_plots"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for a sampler; the observer emits each once."""
        for fact in window.new(DrawWeights):
            said = growing(fact) or misplaced(fact)
            if said:
                yield self.finding(
                    window,
                    "warning",
                    f"WeightedRandomSampler{spot(fact.frame)} {said}",
                    ref=fact.ref,
                    place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                    smallest=float(min(fact.sizes)),
                )


def growing(fact: DrawWeights) -> str:
    """What is said of weights that follow the frequency."""
    classes = [max(1, sum(count > 0 for count in drawn)) for drawn in fact.drawn] or [1] * len(fact.weights)
    sizes = [size / many for size, many in zip(fact.sizes, classes, strict=True)]
    if len(sizes) < 2 or min(fact.weights) <= 0 or max(sizes) < APART * min(sizes) or not is_known(fact):
        return ""
    if not is_constant([weight / size for weight, size in zip(fact.weights, sizes, strict=True)]):
        return ""
    least = min(range(len(sizes)), key=sizes.__getitem__)
    total = sum(weight * size for weight, size in zip(fact.weights, fact.sizes, strict=True))
    share = fact.weights[least] * fact.sizes[least] / total
    return (
        f"weighs the samples of {fact.dataset} with {listed([f'{one:.3g}' for one in fact.weights])}"
        f"{made_at(fact.made)}, and {listed(map(str, fact.sizes))} samples have them: the weight follows the "
        f"frequency, so the smallest group, {fact.sizes[least] / sum(fact.sizes):.2g} of the samples, is {share:.2g} "
        "of what is drawn; expected its inverse. Use 1 / counts."
    )


def misplaced(fact: DrawWeights) -> str:
    """What is said of weights that are those of other samples."""
    if len(fact.weights) != len(fact.labels) or min(fact.weights) <= 0 or min(map(sum, fact.drawn)) < EACH:
        return ""
    if not is_constant([w * size for w, size in zip(fact.weights, fact.sizes, strict=True)], SIZES):
        return ""
    if max(fact.sizes) < APART * min(fact.sizes):
        return ""
    shares = [[count / sum(drawn) for count in drawn] for drawn in fact.drawn]
    if any(max(column) - min(column) > ALIKE for column in zip(*shares, strict=True)):
        return ""
    meant = sorted(size / sum(fact.sizes) for size in fact.sizes)
    seen = sorted(sum(column) / sum(map(sum, fact.drawn)) for column in zip(*fact.drawn, strict=True))
    if any(not 1 / SIZES <= (one + 0.01) / (other + 0.01) <= SIZES for one, other in zip(meant, seen, strict=True)):
        return ""
    return (
        f"weighs {fact.dataset} by the inverse of {listed(map(str, fact.sizes))} samples{made_at(fact.made)}, as "
        f"frequent as its {len(fact.labels)} labels, but each label comes as often with one weight as with another: "
        "they are the weights of other samples, and the rare labels are drawn no more often; expected one weight for "
        "each label. Make them of the labels of the dataset that is loaded, in its order."
    )


def is_known(fact: DrawWeights) -> bool:
    """Whether each label came with one weight alone, where labels were seen at all."""
    return all(sum(count > 0 for count in column) <= 1 for column in zip(*fact.drawn, strict=True))


def is_constant(numbers: list[float], close: float = CLOSE) -> bool:
    """Whether numbers are one, up to what rounding does."""
    return max(numbers) <= close * min(numbers)


def listed(words: Iterable[str]) -> str:
    """The first of them, in a sentence."""
    known = list(words)
    if len(known) > 4:
        return f"{', '.join(known[:3])} ... ({len(known)} in all)"
    return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
