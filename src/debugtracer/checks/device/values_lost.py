"""Does what a layer or the loss is given still hold the values that were made?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.lost_values import LostValues
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ValuesLost(Check, frozen=True):
    """A tensor arrives as zeros in one step, and what made it cannot be zero.

    What it catches
        Copies and transfers that lose data now and then, a buffer that is filled anew while it is still read: a batch,
        its labels, or the activations between two layers are 0 for one step.
    Why it matters
        The loss jumps for one step. Labels, single samples or the learning rate are blamed, and are sound.
    How it decides
        Where the loss is a quarter above all of the last 32, the inputs of layers and the targets that its graph keeps
        are read. One is 0 everywhere, was not in other steps that were looked at nor in the next one, and cannot be:
        samples of the batch that are fetched again hold other values and the program wrote nothing into it; the batch
        is not and a line only moves it; or it was computed by a layer with a bias, tanh, sigmoid or a norm, and moved
        at most. What is masked, dropped, multiplied or cut off at 0 is left out.
    What to do
        Compare both sides of the transfer on that line; look for what writes into this memory; test the machine.
    Example
        step 246, rank 0: the input of upper (384 x 64, train.py:46) is 0 everywhere, though what made it cannot be; the
        loss is 4.02 (usual 1.15), and in 5 other steps it was not 0; expected the values that were computed. Compare
        both sides of that line, and look for what writes into this memory.
    """

    needs: ClassVar[tuple[type[LostValues]]] = (LostValues,)
    kind: ClassVar[str] = "silent_data_corruption"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "compare both sides of the transfer: assert torch.equal(moved.cpu(), before.cpu()), for some hundred steps",
        "look for what writes into this memory: .data, a numpy view, a buffer that a worker fills again",
        "between devices turn peer-to-peer copies off (NCCL_P2P_DISABLE=1) and test the machine (p2pBandwidthTest)",
    )
    proved_by: ClassVar[str] = "device/split_chimes"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it of each such step."""
        for fact in window.new(LostValues):
            if not fact.by_right:
                yield self.described(window, fact)

    def described(self, window: Window, fact: LostValues) -> Finding:
        """Build the finding of one step."""
        shape = " x ".join(str(size) for size in fact.shape)
        what = fact.path or f"the input of {fact.module}"
        if fact.path and not fact.samples:
            why = "though the loader delivered other values and that line only moves them"
        elif fact.path:
            named = ", ".join(str(one) for one in fact.samples[:3])
            why = f"though samples fetched again ({named}) hold other values and no line wrote into it"
        else:
            why = "though what made it cannot be"
        return self.finding(
            window,
            "warning",
            f"{what} ({shape}{spot(fact.frame).replace(' (', ', ').removesuffix(')')}) is 0 everywhere, {why}; the "
            f"loss is {as_float(fact.value):.3g} (usual {as_float(fact.usual):.3g}), and in {fact.looks} other "
            "steps it was not 0; expected the values that were "
            f"{'delivered' if fact.path else 'computed'}. Compare both sides of that line, and look for what "
            "writes into this memory.",
            ref=fact.ref,
            place=Place(frame=fact.frame, module=fact.module or None),
            looks=fact.looks,
        )
