"""Does a batch bring NaN or Inf into the model?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import named, place_of, which
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.facts.refetched import Refetched
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.window import Window

MADE = {
    "source": "it is so before any transform",
    "normalisation": "a normalisation made it (0/0: a spread of zero)",
    "operation": "a transform made it",
}


class NonfiniteInput(Check, frozen=True):
    """NaN or Inf in a tensor of a batch.

    What it catches
        Missing cells of a table, the logarithm of silence, a normalisation by a zero spread, a broken decoder.
    Why it matters
        One such value makes the loss, every gradient and then every weight NaN.
    How it decides
        It counts non-finite values in the floating tensors of each batch that is looked at. It is an error when the
        tensor went into a module or a loss and what came out is not finite either; a NaN that marks a missing value and
        is masked later is a note, one for each tensor of a loader. It is an error too when the program dies in that
        step at a call that was given NaN or Inf. Tensors of -Inf and one other value are additive
        masks and are left alone. The guilty sample is fetched again through the dataset, to name the first transform
        whose output is bad.
    What to do
        Drop or impute the cells where the dataset makes the sample, before any mean or standard deviation is taken.
    Example
        step 8, rank 0: batch[0] of batch 8 of Gauges (train.py:30) holds 1 non-finite of 60 values, sample 135, and the
        output of Sequential is not finite; expected finite inputs. Impute or drop the sample where it is made.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity, Refetched, Crash)
    kind: ClassVar[str] = "data_nonfinite"
    symptom: ClassVar[str] = "nan_loss"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "drop or impute the bad cells where the dataset makes the sample, before any mean or standard deviation is "
            "taken"
        ),
        "guard the door: raise in __getitem__ or collate_fn unless torch.isfinite(x).all()",
    )
    suspects: ClassVar[tuple[str, ...]] = ("data-nonfinite", "normalisation-zero-std")
    proved_by: ClassVar[str] = "data/missing_cell_workers"

    def judge(self, window: Window) -> Iterator[Finding]:
        """An error for each tensor that spoiled what it reached, one note for those that did not."""
        noted = window.memory(self)
        for fact in window.new(BatchOddity):
            tensor = (fact.loader.number, fact.path)
            if fact.what == "nonfinite" and (fact.spoiled or tensor not in noted):
                noted[tensor] = True
                yield self.describe(window, fact)
        for crash in window.new(Crash):
            met = [
                fact
                for fact in window.seen(BatchOddity)
                if fact.what == "nonfinite" and fact.ref.step == crash.ref.step
            ]
            if met and not met[-1].spoiled and any(tensor.nonfinite for tensor in crash.tensors):
                yield self.describe(
                    window, met[-1], f", and the program ended with {crash.error} at a call that met them"
                )

    def describe(self, window: Window, fact: BatchOddity, ended: str = "") -> Finding:
        """How many values, which samples, what they spoiled, who made them."""
        met = {"model": f"the output of {fact.module}", "loss": "the loss"}.get(fact.reached, "")
        spoiled = ended or (
            f", and {met} is not finite"
            if fact.spoiled
            else f"; {met} is finite all the same"
            if met
            else "; no module took it as it is"
        )
        again = next(
            (r for r in window.seen(Refetched) if r.loader == fact.loader.number and r.index in (fact.samples or ())),
            None,
        )
        made = ""
        if again is not None and again.again:
            made = f"; {again.transform or 'fetched again'}: {MADE.get(again.origin, 'the dataset hands it out so')}"
        who = f", {named(fact.samples)}" if fact.samples else ""
        return self.finding(
            window,
            "error" if fact.spoiled or ended else "note",
            f"{fact.path} of {which(fact.batch, fact.loader)} holds {fact.count} non-finite of {fact.of} "
            f"values{who}{spoiled}{made or made_at(fact.made)}; "
            "expected finite inputs. Impute or drop the sample where it is made.",
            ref=fact.ref,
            place=place_of(fact, again.frame if again is not None else None),
            kind="normalisation_zero_std" if again is not None and again.origin == "normalisation" else None,
            nonfinite=fact.count,
            values=fact.of,
        )
