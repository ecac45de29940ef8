"""Does each term of a loss train somebody?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.unused_term import UnusedTerm
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TermUnused(Check, frozen=True):
    """A term of a loss trains nobody: it is cut off from the network that it is for, and the gradients that it makes in
    the other one are thrown away.

    What it catches
        `fake.detach()`, or a forgery made under no_grad, in the adversarial term of a generator whose loss has another
        term, such as a distance to a target.
    Why it matters
        The term is printed and looks alive, for the critic moves. The generator learns the other term alone.
    How it decides
        Where two optimizers live, the losses of the first backwards are taken apart by their graph. A term takes what
        the network of one optimizer made without its graph and reaches parameters of another one alone; in `rounds`
        backwards of one line their gradients were cleared and that optimizer then stepped, while the first one used
        those of another term. In none did anybody use a gradient of it. A critic's own term, a part that is stepped
        with the rest or later (accumulation, a skipped step), a term that was not cut off from anything, do not count.
    What to do
        Leave the `.detach()` or the no_grad out in this step: it belongs into the step of the critic.
    Example
        step 1, rank 0: term 1 of 2 in the loss of line 76 reaches 6 parameters of Adam (gan.py:62) alone, and zero_grad
        (gan.py:69) cleared their gradients before each of its steps, in 3 backwards; from what Adam (gan.py:61) trains
        it is cut off (gan.py:73); expected that to be trained by it. Leave the detach (or no_grad) out in this step.
    """

    needs: ClassVar[tuple[type[UnusedTerm]]] = (UnusedTerm,)
    kind: ClassVar[str] = "detached_graph"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "leave .detach() (or no_grad) out in the step of the generator: critic(fake), not critic(fake.detach())",
        "or, if the term is there to be printed alone, leave it out of the loss",
    )
    family: ClassVar[str] = "loss"
    proved_by: ClassVar[str] = "model/tinted_maps"

    rounds: int = 3
    """Backwards of one line (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the backwards of each term; said once."""
        memory = window.memory(self)
        for fact in window.new(UnusedTerm):
            term = fact.backward, fact.number, fact.terms
            seen = memory.setdefault(term, [])
            if fact.used or term in memory.setdefault("settled", set()):
                memory["settled"].add(term)
                continue
            seen.append(fact)
            cut = next((one for one in seen if one.cut is not None), None)
            cut = cut or next((one for one in seen if one.taken is not None), None)
            if len(seen) >= self.rounds and cut is not None:
                memory["settled"].add(term)
                yield self.describe(window, cut)
            del seen[self.rounds :]

    def describe(self, window: Window, fact: UnusedTerm) -> Finding:
        """Build the finding at the line that cut it off."""
        line = fact.backward.line if fact.backward else "?"
        some = f"{fact.parameters} parameters" if fact.parameters > 1 else "a parameter"
        cut = fact.cut or fact.taken
        return self.finding(
            window,
            "warning",
            f"term {fact.number + 1} of {fact.terms} in the loss of line {line} reaches {some} of {fact.kind}"
            f"{spot(fact.built)} alone, and {'zero_grad' if fact.cleared else 'the loop'}{spot(fact.cleared)} cleared "
            f"their gradients before each of its steps, in {self.rounds} backwards; from what {fact.other_kind}"
            f"{spot(fact.other_built)} trains it is cut off{spot(cut)}; expected that to be trained by it. Leave the "
            "detach (or no_grad) out in this step.",
            ref=fact.ref,
            place=Place(frame=cut, symptom_frame=fact.backward),
            parameters=float(fact.parameters),
        )
