"""Does a model that predicts each place from those before it see the place itself?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.own_places import OwnPlaces
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class OwnPlaceSeen(Check, frozen=True):
    """An autoregressive model of its own input has the answer in its input.

    What it catches
        `<=` in place of `<` in the mask of the last layer of a MADE; a first convolution of a PixelCNN with a mask of
        type B, which lets the middle pixel through.
    Why it matters
        Each output copies its own input: the likelihood becomes far too good, and samples that are drawn place by place
        are noise.
    How it decides
        The target of the first likelihood (binary cross-entropy, cross-entropy) is the input of the model. On a copy in
        evaluation mode places of the input are changed one at a time: there is an order of the places in which none
        reaches an earlier one, so each output reads what comes before it; at least `pairs` of two places per place
        are linked; and `share` of the places change the output at their own place. An autoencoder or a denoiser reads
        all places, in no order. Losses of squares are not judged: a causal filter may give its input back.
    What to do
        Let the mask keep what is strictly before: `<` in the last layer of a MADE, type A in the first convolution.
    Example
        step 0, rank 0: of 16 places of the input of Made that were changed one at a time, 16 change the output at their
        own place, which binary_cross_entropy_with_logits (train.py:41) asks for, and all outputs read places in one
        order; expected none, as each is to be told from those before it. Keep what is strictly before in the mask of
        last (train.py:26).
    """

    needs: ClassVar[tuple[type[OwnPlaces]]] = (OwnPlaces,)
    kind: ClassVar[str] = "label_leak"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "keep what is strictly before in one mask: < in the last layer of a MADE, type A in the first convolution",
        "test it: the derivative of output i by input i is 0",
    )
    proved_by: ClassVar[str] = "model/harbour_lamps"

    share: float = 0.8
    """Of the places that were changed (ours: a closed relu hides some)."""
    pairs: float = 0.5
    """Linked pairs for each place (ours: without any the model only weighs its inputs)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a model."""
        for fact in window.new(OwnPlaces):
            linked = fact.ordered and fact.reached >= self.pairs * fact.tried
            if linked and fact.own >= self.share * fact.tried:
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: OwnPlaces) -> Finding:
        """Build the finding at the line that makes the layer."""
        mask = f" in the mask of {fact.module}{spot(fact.frame)}" if fact.module else ""
        return self.finding(
            window,
            "error",
            f"of {fact.tried} places of the input of {fact.root} that were changed one at a time, {fact.own} change "
            f"the output at their own place, which {fact.loss}{spot(fact.loss_frame)} asks for, and all outputs read "
            "places in one order; expected none, as each is to be told from those before it. Keep what is strictly "
            f"before{mask}.",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.frame or fact.called, symptom_frame=fact.loss_frame),
            own=fact.own,
            tried=fact.tried,
        )
