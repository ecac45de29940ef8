"""Do networks that are made beside a trained one begin with its values?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fresh_start import FreshStart
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class CopyEmpty(Check, frozen=True):
    """A network is updated and read by nothing: those that are made to begin with its values begin anew.

    What it catches
        A `clone()` that builds a network of the same sizes and never loads the values, in meta-learning (Reptile), in
        federated rounds: each task or client begins with a random network.
    Why it matters
        Nothing fails and each loss falls. What the tasks have in common is written into a network that nobody uses, and
        each new task is learnt from nothing.
    How it decides
        An optimizer has updated parameters with gradients that no backward made, and from the start no forward of a
        module that holds one of them was seen, in steps that were all seen. After an update two networks of the same
        shapes were given optimizers of their own, and before the first update of each the cosine of every weight of 256
        elements or more with the updated one was below 0.3: a copy, also with noise, a rounded one or one that was
        trained further, is near. A network that was called, or one copy that is near, ends it.
    What to do
        Load the values: `new.load_state_dict(old.state_dict())`, or make it with `copy.deepcopy(old)`.
    Example
        step 5, rank 0: SGD (train.py:48) updates the network of train.py:47, no forward reads it, and 2 networks of its
        shapes, made since at train.py:21, begin without its values (cosine at most 0.04); expected copies of it. Load
        its values: new.load_state_dict(old.state_dict()).
    """

    needs: ClassVar[tuple[type[FreshStart]]] = (FreshStart,)
    kind: ClassVar[str] = "average_not_updated"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "load its values where the new network is made: new.load_state_dict(old.state_dict())",
        "or make it a copy: copy.deepcopy(old)",
    )
    proved_by: ClassVar[str] = "optimizer/tide_starts"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say each network once."""
        for fact in window.new(FreshStart):
            whose = f"the network of {file_line(fact.original)}" if fact.original is not None else "a network"
            made = f", made since at {file_line(fact.made)}," if fact.made is not None else " that were made since"
            yield self.finding(
                window,
                "warning",
                f"{fact.kind}{spot(fact.frame)} updates {whose}, no forward reads it, and {fact.networks} networks of "
                f"its shapes{made} begin without its values (cosine at most {float(fact.near):.2g}); expected copies "
                "of it. Load its values: new.load_state_dict(old.state_dict()).",
                ref=fact.ref,
                place=Place(frame=fact.made or fact.frame, symptom_frame=fact.original or fact.frame),
                networks=fact.networks,
                updates=fact.updates,
            )
