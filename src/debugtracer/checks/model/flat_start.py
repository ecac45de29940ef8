"""Can a gate that begins at 0 leave it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.zero_parameters import ZeroParameter, ZeroParameters
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window


class FlatStart(Check, frozen=True):
    """A parameter begins at 0 and is used through a function whose derivative there is 0.

    What it catches
        A gate that starts at 0 behind a ReLU, `abs`, a square or a norm: a weight of a branch that is to grow from
        nothing.
    Why it matters
        torch takes 0 as the derivative of ReLU at 0, so the gate never moves, and the branch behind it never gets a
        gradient. The rest learns without it, and the loss looks plausible.
    How it decides
        The parameter was 0 everywhere and its gradient exactly 0 before the updates 1, 2 and 4 of its optimizer, others
        had gradients, and in the graph of the loss it is used by such functions alone. It is exact: no update can move
        it.
    What to do
        Start the gate above 0, or use softplus, or no function at all.
    Example
        step 0, rank 0: fuse.amount (train.py:24) is 0 everywhere and is used through relu alone, whose
        derivative at 0 is 0: it cannot move, and 4 parameters (weather.weight_ih_l0, ...) get gradients of
        exactly 0; expected a start at which the function has a slope. Start above 0, or use softplus.
    """

    needs: ClassVar[tuple[type[ZeroParameters]]] = (ZeroParameters,)
    kind: ClassVar[str] = "bad_init"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "start the parameter at a small value above 0",
        "use a function with a slope at 0: softplus, sigmoid, or none",
    )
    proved_by: ClassVar[str] = "model/tide_and_wind"

    looks: int = 3
    """Looks at the optimizer (ours: a batch may miss a branch once)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding per optimizer, at the first gate."""
        memory = window.memory(self)
        begun, told = memory.setdefault("begun", {}), memory.setdefault("told", set())
        for fact in window.new(ZeroParameters):
            ref = begun.setdefault(fact.optimizer, fact.ref)
            gates = [one for one in fact.stuck if one.flat]
            if fact.looks >= self.looks and gates and fact.live and fact.optimizer not in told:
                told.add(fact.optimizer)
                yield self.describe(window, fact, gates, ref)

    def describe(self, window: Window, fact: ZeroParameters, gates: list[ZeroParameter], ref: StepRef) -> Finding:
        """Build the finding with what lies behind the gate."""
        gate = gates[0]
        more = f" and {len(gates) - 1} more" if len(gates) > 1 else ""
        dots = ", ..." if fact.behind_count > 1 else ""
        behind = (
            f", and {counted(fact.behind_count, 'parameter')} ({fact.behind[0]}{dots}) get gradients of exactly 0"
            if fact.behind
            else ""
        )
        return self.finding(
            window,
            "error",
            f"{gate.name}{spot(gate.made)}{more} is 0 everywhere and is used through {gate.flat} alone, whose "
            f"derivative at 0 is 0: it cannot move{behind}; expected a start at which the function has a slope. Start "
            "above 0, or use softplus.",
            ref=ref,
            place=Place(
                param=gate.name,
                module=gate.name.rpartition(".")[0] or None,
                frame=gate.made or gate.used,
                symptom_frame=gate.used,
            ),
            kind="dead_relu" if gate.flat == "relu" else "bad_init",
            behind=float(fact.behind_count),
        )
