"""Can the units of a layer ever become different?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.facts.equal_units import EqualUnits as Locked
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class EqualUnits(Check, frozen=True):
    """All units of a layer are equal and receive equal gradients.

    What it catches
        Weights filled with zeros or one constant, layer after layer.
    Why it matters
        Equal units with equal gradients stay equal for ever: a layer of 512 is a layer of one. With zeros nothing moves
        at all.
    How it decides
        In the first updates the rows of a trainable matrix are equal bit for bit, and so are their gradients (to
        rounding). Zero gradients must last `steps` updates, as behind a gate that starts at 0 they do not. A last
        layer, a LoRA B or the last convolution of a residual branch may start at 0: their gradients differ.
    What to do
        Use a random initialisation (kaiming_uniform_, xavier_uniform_).
    Example
        step 0, rank 0: all 24 units of first.weight are equal (0.05) and so are their gradients: they stay equal for
        ever (1 more matrix is like that); expected random weights. Initialise with xavier_uniform_ or kaiming_uniform_.
    """

    needs: ClassVar[tuple[type[Locked]]] = (Locked,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "no_learning"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "initialise with nn.init.xavier_uniform_ or kaiming_uniform_",
        "leave the initialisation of torch as it is",
    )
    proved_by: ClassVar[str] = "model/constant_weights"

    steps: int = 3
    """Updates a gradient of zero must last (what an update does is looked at in the first 3 steps)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for the whole model, at the first matrix."""
        memory = window.memory(self)
        if not window.new(Locked) or "told" in memory:
            return
        for fact in window.new(Locked):
            first = memory.setdefault(fact.param, fact)
            memory[fact.param] = msgspec.structs.replace(fact, ref=first.ref)
        locked = [fact for fact in memory.values() if fact.grad_equal or (fact.grad_zero and fact.looks >= self.steps)]
        if locked:
            memory["told"] = True
            yield self.describe(window, locked)

    def describe(self, window: Window, locked: list[Locked]) -> Finding:
        """Which matrix, which value, how many are like it."""
        fact = locked[0]
        value = f" ({fact.value:.4g})" if isinstance(fact.value, float) else ""
        grads = (
            "so are their gradients: they stay equal for ever"
            if fact.grad_equal
            else f"their gradients are 0 in {self.steps} updates: they never move"
        )
        more = len(locked) - 1
        others = f" ({more} more {'matrix is' if more == 1 else 'matrices are'} like that)" if more else ""
        return self.finding(
            window,
            "error",
            f"all {fact.units} units of {fact.param} are equal{value} and {grads}{others}; expected random weights. "
            "Initialise with xavier_uniform_ or kaiming_uniform_.",
            ref=fact.ref,
            place=Place(param=fact.param, module=fact.module or None, frame=fact.frame),
            units=float(fact.units),
            matrices=float(len(locked)),
        )
