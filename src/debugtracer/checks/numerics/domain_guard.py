"""Do the inputs of log, exp, sqrt and divisions come nearer to where these break?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.domain_edges import DomainEdges, Edge
from debugtracer.trace.finding import Finding, Severity
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLASSES = {
    "log": "log_domain",
    "log1p": "log_domain",
    "log2": "log_domain",
    "log10": "log_domain",
    "div": "zero_division",
    "reciprocal": "zero_division",
}
KINDS = {"zero": "zero_division", "root": "backward_nan_op", "unit": "backward_nan_op", "overflow": "exp_overflow"}
REMEDIES = {
    "log_domain": (
        "use F.log_softmax or F.logsigmoid instead of the logarithm of a probability, or clamp the input: "
        "x.clamp_min(1e-8)"
    ),
    "zero_division": "add an eps to the denominator, or clamp it",
    "backward_nan_op": "add an eps inside the root (acos: clamp to -1 + 1e-6 .. 1 - 1e-6)",
    "exp_overflow": "subtract the largest input first (logsumexp, log_softmax), or clamp the input",
}


class DomainGuard(Check, frozen=True):
    """An input of log, exp, sqrt, acos or a division runs towards the edge where the function or its derivative is
    infinite.

    What it catches
        log(softmax(x)) of a model that grows sure, exp of a score that grows, a learnt scale in a denominator that
        shrinks, a root of what goes to 0.
    Why it matters
        Nothing is wrong yet; when the input gets there the loss or the gradient is NaN and the run is lost.
    How it decides
        On inspected steps, for each line of the program: the nearest input, if it hangs on a graph and no added eps,
        clamp, maximum or where keeps it away (torch.norm has the derivative 0 at 0 and is left out, so is what torch
        does inside its own layers). Near is closer than `near` (`near_root` for roots, `near_half` in float16) or
        within `near_exp` of the largest input of exp. An input on the edge is a note; so is one that is near and has
        come `decades` powers of ten nearer since the first look. A warning when it came nearer by a power of ten in
        each of the last three looks and at the last pace arrives before the run is twice as long.
    What to do
        Use the stable form (log_softmax, logsumexp), or add an eps or clamp that the dtype can hold.
    Example
        step 400, rank 0: the input of log (float32) comes within 1.3e-26 of 0, from 3e-05 at step 100: at this pace it
        arrives in 168 steps; expected more than 1e-06, or an eps. Use F.log_softmax or F.logsigmoid instead of the
        logarithm of a probability, or clamp the input: x.clamp_min(1e-8).
    """

    needs: ClassVar[tuple[type[DomainEdges]]] = (DomainEdges,)
    kind: ClassVar[str] = "log_domain"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.7
    proved_by: ClassVar[str] = "numerics/sharpened_guesses"

    near: float = 1e-6  # distance to the edge, units of the input (the usual epsilons are 1e-8 to 1e-6)
    near_root: float = 1e-12  # the same for roots: there the derivative is 5e5 (ours)
    near_half: float = 6e-5  # the same in float16 (its least normal number is 6.1e-5)
    near_exp: float = 0.1  # share of the largest input of exp: from 80 in float32, 10 in float16 (ours)
    decades: float = 1.0  # powers of ten since the first look, or between two looks (ours)
    apart: int = 10  # steps between two looks that are compared (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each line of a new measurement, beside its earlier ones."""
        memory = window.memory(self)
        for fact in window.new(DomainEdges):
            for edge in fact.edges:
                key = (edge.op, edge.dtype, edge.frame)
                looks: list[tuple[int, Edge]] = memory.setdefault(("looks", key), [])
                first = memory.setdefault(("first", key), (fact.ref.step, edge))
                if looks and fact.ref.step - looks[-1][0] < self.apart and as_float(edge.distance) > 0:
                    continue
                looks.append((fact.ref.step, edge))
                del looks[:-4]
                severity, said = self.severity(first, looks)
                if severity is not None and ("told", key, severity) not in memory:
                    memory["told", key, severity] = memory["told", key, "note"] = True
                    yield self.describe(window, fact, edge, severity, said)

    def severity(self, first: tuple[int, Edge], looks: list[tuple[int, Edge]]) -> tuple[Severity | None, str]:
        """How bad, and what the trend is."""
        step, edge = looks[-1]
        if as_float(edge.distance) <= 0:
            return "note", "lies on it"
        if not self.is_near(edge):
            return None, ""
        way = [left(e) for _, e in looks]
        came = [a - b for a, b in itertools.pairwise(way)]
        begin = (
            f"comes within {as_float(edge.distance):.2g} of it, from {as_float(first[1].distance):.2g} at step "
            f"{first[0]}"
        )
        arrives = way[-1] / came[-1] * (step - looks[-2][0]) if came and came[-1] > 0 else math.inf
        if len(came) == 3 and min(came) > self.decades and arrives < step:
            return "warning", f"{begin}: at this pace it arrives in {arrives:.0f} steps"
        steady = len(looks) > 1 and self.is_near(looks[-2][1])
        return ("note", begin) if steady and left(first[1]) - way[-1] > self.decades else (None, "")

    def is_near(self, edge: Edge) -> bool:
        """True when the distance to the edge is within the bounds."""
        distance = as_float(edge.distance)
        if edge.limit is not None:
            return distance < self.near_exp * as_float(edge.limit)
        return distance < self.bound(edge)

    def bound(self, edge: Edge) -> float:
        """What counts as near, in units of the input."""
        return self.near_half if edge.dtype == "float16" else self.near_root if edge.kind == "root" else self.near

    def describe(self, window: Window, fact: DomainEdges, edge: Edge, severity: Severity, said: str) -> Finding:
        """The line, the function, how near and since when."""
        kind = CLASSES.get(edge.op, KINDS[edge.kind])
        if edge.limit is not None:
            place, expected = (
                f"the largest finite input {as_float(edge.limit):.4g}",
                f"at least {self.near_exp * as_float(edge.limit):.2g} below",
            )
        else:
            place, expected = (
                {"unit": "1", "zero": "0", "root": "0"}[edge.kind],
                f"more than {self.bound(edge):g}, or an eps",
            )
        remedy = REMEDIES[kind]
        argument = "denominator" if edge.op == "div" else "input"
        return self.finding(
            window,
            severity,
            f"the {argument} of {edge.op} ({edge.dtype}) "
            f"{said.replace('of it', f'of {place}').replace('on it', f'on {place}')}; expected {expected}. "
            f"{remedy[0].upper()}{remedy[1:]}.",
            ref=fact.ref,
            place=Place(frame=edge.frame, module=edge.module, op=f"aten::{edge.op}"),
            kind=kind,
            remedies=(remedy,),
            distance=as_float(edge.distance),
        )


def left(edge: Edge) -> float:
    """The powers of ten to the edge: the distance over its least value, or for exp the room below its largest
    result."""
    distance = as_float(edge.distance)
    if edge.limit is not None:
        return distance / math.log(10)
    return math.log10(max(distance, as_float(edge.grain)) / as_float(edge.grain))
