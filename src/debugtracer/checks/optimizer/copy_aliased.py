"""Are kept weights a copy?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.shared_memory import SharedMemory
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

CLONE = "{name: value.clone() for name, value in model.state_dict().items()}"


class CopyAliased(Check, frozen=True):
    """Weights that were kept for later lie in the memory of those that are trained.

    What it catches
        `best = model.state_dict()` without a copy, loaded again at the end, or from which the next weights are computed
        (Reptile, Lookahead: old + share * (new - old)); an anchor (EWC, L2-SP) or the old weights
        of a two-step optimizer (SAM) kept as `p.data`; a target network or teacher made with
        `load_state_dict(..., assign=True)` or `q.data = p.data`.
    Why it matters
        The copy moves with every update, so that going back changes nothing, a penalty on the difference is always 0
        and targets come from the network that is trained.
    How it decides
        Addresses alone, so nothing is guessed. A state that `load_state_dict` gets is, for all parameters, the memory
        of the module itself, and was taken before an update or before other weights were loaded. Three loads of a line
        in a row give back what is there, and each time a state taken before the updates since the last is still kept
        and lies in the module's memory. A loss takes a parameter from another tensor of its memory that no call of this
        step has made (`x - x.detach()` makes a new one each time). An optimizer's state for a parameter is that
        parameter's memory at each of several backward calls of a step, between which it was written. Every parameter of
        a network that no optimizer holds lies in that of a trained one, as another tensor: layers shared by design
        share the parameter itself.
    What to do
        Keep `p.detach().clone()`, or `copy.deepcopy(model.state_dict())`.
    Example
        step 400, rank 0: load_state_dict (train.py:31) is given the memory of Net itself, taken 120 updates ago with
        state_dict() (train.py:24): it restores nothing; expected a copy. Keep copy.deepcopy(model.state_dict()).
    """

    needs: ClassVar[tuple[type[SharedMemory]]] = (SharedMemory,)
    kind: ClassVar[str] = "copy_aliased"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "keep a copy: copy.deepcopy(model.state_dict()), or p.detach().clone() for each parameter",
        "print once whether kept.data_ptr() == p.data_ptr()",
    )
    proved_by: ClassVar[str] = "optimizer/best_harvest"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each place."""
        for fact in window.new(SharedMemory):
            yield self.finding(
                window,
                "warning",
                told(fact),
                ref=fact.ref,
                place=Place(frame=fact.made or fact.frame, symptom_frame=fact.frame if fact.made else None),
                count=float(fact.count),
                updates=float(fact.updates),
            )


def told(fact: SharedMemory) -> str:
    """What is said of one place."""
    where, count = spot(fact.frame), f"{fact.count} parameter{'s' if fact.count > 1 else ''} in all"
    if fact.how == "restored":
        taken = f" with state_dict() ({file_line(fact.made)})" if fact.made is not None else ""
        return (
            f"load_state_dict{where} is given the memory of {fact.name} itself, taken {fact.updates} updates ago{taken}"
            ": it restores nothing; expected a copy. Keep copy.deepcopy(model.state_dict())."
        )
    if fact.how == "exchanged":
        taken = f" ({file_line(fact.made)})" if fact.made is not None else ""
        return (
            f"the state of {fact.name} that was kept{taken} lies in the model's own memory: load_state_dict{where} has "
            "overwritten it, and loading it afterwards brings nothing back; training goes on from the other weights; "
            "expected a copy. Keep copy.deepcopy(model.state_dict())."
        )
    if fact.how == "unchanged":
        taken = f" ({file_line(fact.made)})" if fact.made is not None else ""
        return (
            f"load_state_dict{where} gives {fact.name} what it has already, three times in a row: the state that was "
            f"kept{taken} {fact.updates} updates before lies in the model's own memory, so that old and new are one; "
            "expected a copy. Keep copy.deepcopy(model.state_dict())."
        )
    if fact.how == "difference":
        kept = f", kept at {file_line(fact.made)}" if fact.made is not None else ""
        return (
            f"the loss takes {fact.name} from a tensor of before in its own memory{where}, {count}{kept}: the "
            "difference is always 0; expected a copy from before. Keep p.detach().clone()."
        )
    if fact.how == "rescue":
        return (
            f"the optimizer{where} keeps {fact.name} and {fact.count - 1} more in their own memory while it writes "
            "them between two backward calls: what it puts back is what it wrote; expected a copy. Keep "
            "p.detach().clone()."
        )
    return (
        f"all {fact.count} parameters of a {fact.name} that no optimizer holds lie in the memory of a trained one: it "
        "is always equal to it; expected a copy. Load without assign=True, or clone each parameter."
    )
