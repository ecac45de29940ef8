"""Are the data of the evaluation on the scale of the training data?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.batch_content import BatchProfile, LeafProfile
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EvalScale(Check, frozen=True):
    """The evaluation is given the same kind of values in another unit than training.

    What it catches
        Test images that are left at 0 to 1 while training images are brought to mean 0 and deviation 1; statistics of
        a normalisation that are applied on one side.
    Why it matters
        The evaluation measures another task than the one that was trained, and says that the model is bad.
    How it decides
        One loader feeds training, another calls without a graph; the float tensors at one path went into the model as
        they were fetched. In units of their own mean and deviation both reach from the same least to the same largest
        value (within `like`), and yet the deviations differ by a factor of `times`, or the means by `apart` deviations:
        no other data, the same in another unit. Augmentation may widen the training data (black borders): it is enough
        that the scale which brings the range of the evaluation onto that of training, of at least `far`, brings its
        mean near (within `like` deviations), and its deviation too, though training may be up to `wider` times wider.
    What to do
        Apply the transform of the training set to both.
    Example
        step 120, rank 0: the evaluation is given batch[0] of Images (train.py:30) with mean 0.301 and std 0.211
        (0..0.8), training that of Images (train.py:29) with mean 0.0041 and std 0.917 (-1.3..2.17); expected one scale:
        training's is about (x - 0.3) / 0.231. Apply the transform of the training set to both.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchProfile,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "data_unnormalised"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "give both data sets the same transform, with the statistics of the training set",
    )
    proved_by: ClassVar[str] = "data/bottle_lids"

    like: float = 0.25  # share by which the normalised ends may differ (ours)
    times: float = 2.0  # ratio of the deviations (ours: other data of one kind stay below)
    apart: float = 3.0  # deviations between the means (ours: a series that drifts goes 1.8 in the part held out)
    far: float = 3.0  # scale of the ranges (ours: pixels of 0 to 1 are divided by 0.3 at most)
    wider: float = 2.0  # by how much augmentation may widen training (ours: crops with black borders reach 1.8)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Compare each evaluating loader with the first training one, once."""
        profiles = {fact.loader.number: fact for fact in window.seen(BatchProfile)}
        trains = [fact for fact in profiles.values() if fact.training and not fact.evaluated]
        told, given = window.memory(self), window.seen(FirstInput)
        for evaluated in profiles.values():
            if evaluated.training or not evaluated.evaluated or evaluated.loader.number in told:
                continue
            for training in trains:
                ours, theirs = leaf_of(training, evaluated.evaluated), leaf_of(evaluated, evaluated.evaluated)
                if ours is None or theirs is None or not any(is_as_fetched(one, ours) for one in given):
                    continue
                if self.is_rescaled(ours, theirs):
                    told[evaluated.loader.number] = True
                    yield self.describe(window, (training, ours), (evaluated, theirs))
                    break

    def is_rescaled(self, ours: LeafProfile, theirs: LeafProfile) -> bool:
        """Whether two tensors hold the same kind of values in another unit."""
        a, b = (as_float(leaf.std) for leaf in (ours, theirs))
        if a <= 0 or b <= 0:
            return False
        shift = abs(as_float(ours.mean) - as_float(theirs.mean)) / a
        if 1 / self.times < a / b < self.times and shift < self.apart:
            return False
        ends = [[(as_float(x) - as_float(leaf.mean)) / as_float(leaf.std) for x in (leaf.low, leaf.high)] for leaf in
                (ours, theirs)]  # fmt: skip
        return all(abs(x - y) <= self.like * abs(x) for x, y in zip(*ends, strict=True)) or self.is_mapped(ours, theirs)

    def is_mapped(self, ours: LeafProfile, theirs: LeafProfile) -> bool:
        """Whether what brings one range onto the other brings the rest of the values there too."""
        scale, shift = between(ours, theirs)
        if not (scale >= self.far or 0 < scale <= 1 / self.far):
            return False
        std = as_float(ours.std)
        near = abs(scale * as_float(theirs.mean) + shift - as_float(ours.mean)) <= self.like * std
        return near and 1 / self.wider <= scale * as_float(theirs.std) / std <= 1 + self.like

    def describe(
        self, window: Window, training: tuple[BatchProfile, LeafProfile], evaluated: tuple[BatchProfile, LeafProfile]
    ) -> Finding:
        """Build the finding with both scales."""
        loader = evaluated[0].loader
        factor, shift = between(training[1], evaluated[1])
        mean, sign = abs(shift / factor), "-" if shift <= 0 else "+"
        return self.finding(
            window,
            "warning",
            f"the evaluation is given {scale(*evaluated)}, training that of {scale(*training).partition(' of ')[2]}; "
            f"expected one scale: training's is about (x {sign} {mean:.3g}) / {1 / factor:.3g}. Apply the transform of "
            "the training set to both.",
            place=Place(frame=loader.transform_at or loader.frame, symptom_frame=loader.frame),
            std=as_float(evaluated[1].std),
            trained_std=as_float(training[1].std),
        )


def between(ours: LeafProfile, theirs: LeafProfile) -> tuple[float, float]:
    """Return the factor and summand that bring the range of the second onto that of the first; a factor of 0 for
    no range."""
    width, other = (as_float(leaf.high) - as_float(leaf.low) for leaf in (ours, theirs))
    factor = width / other if other > 0 else 0.0
    return factor, as_float(ours.low) - factor * as_float(theirs.low)


def leaf_of(profile: BatchProfile, path: str) -> LeafProfile | None:
    """The profile of one floating tensor of a batch."""
    return next((leaf for leaf in profile.leaves if leaf.path == path and leaf.role == "float"), None)


def is_as_fetched(given: FirstInput, leaf: LeafProfile) -> bool:
    """Whether the first layer was given what the loader delivered: nothing scaled it on the way."""
    mean, std = as_float(leaf.mean), as_float(leaf.std)
    near = abs(as_float(given.mean) - mean) <= 0.25 * std
    return near and std > 0 and 0.75 <= as_float(given.std) / std <= 1.33


def scale(profile: BatchProfile, leaf: LeafProfile) -> str:
    """Format where a tensor comes from and the size of its values."""
    line = (
        f" ({profile.loader.frame.file.rpartition('/')[2]}:{profile.loader.frame.line})" if profile.loader.frame else ""
    )
    return (
        f"{leaf.path} of {profile.loader.dataset or 'a loader'}{line} with mean {as_float(leaf.mean):.3g} and std "
        f"{as_float(leaf.std):.3g} ({as_float(leaf.low):.3g}..{as_float(leaf.high):.3g})"
    )
