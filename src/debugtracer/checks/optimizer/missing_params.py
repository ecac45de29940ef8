"""Does some optimizer hold every parameter that receives a gradient?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring, full_name
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

HOOKS = frozenset({"configure_optimizers", "create_optimizer", "create_optimizer_and_scheduler"})
"""Methods in which Lightning and transformers ask for an optimizer."""
LATER = "Build the optimizer after the last change to the model."
COPIED = "Compute what a target network gives under torch.no_grad()."
REMEDY_COPIED = "compute what a target network gives under torch.no_grad(), or detach it"
ONCE = "make the model once: initialise the one that the optimizer was given"
LISTED = "Put every parameter that is to learn into that list."
UNFROZEN = "Build the optimizer from all parameters, or hand over those that are unfrozen."
REMEDIES_UNFROZEN = (
    "hand the parameters over where they are unfrozen: optimizer.add_param_group({'params': part.parameters()})",
    "or build the optimizer from all parameters: those that are frozen have no gradient and stay as they are",
)
REMEDY_LISTED = "put every parameter that is to learn into the list that the optimizer is given"


class MissingParams(Check, frozen=True):
    """Parameters receive gradients and no optimizer holds them.

    What it catches
        An optimizer built before a layer was replaced, before `.to()` or FSDP made new parameters, or from a part of
        the model.
    Why it matters
        These parameters never change. The rest learns around them, so the loss looks plausible.
    How it decides
        By identity, over all live optimizers: a trainable parameter of a module the loop calls has a gradient when the
        step closes and is in no parameter group. It is exact when an optimizer also holds parameters of no module that
        is called. Without such strangers a part may be left out on purpose: a warning where it keeps, over two steps,
        the values torch draws for a new layer, or where it was frozen in an earlier step and is not any more, else a
        note; a note too where it is a copy of trained weights (a target network). It is an error where a whole model is
        left out while an optimizer that steps after its backward holds nothing but what another one holds. What an
        optimizer that is gone has held was trained in an earlier stage; where the source builds another one later, it
        is told at the end, if none has held them by then.
    What to do
        Build the optimizer after the last change to the model, or add the parameters with `optimizer.add_param_group`.
    Example
        step 0, rank 0: fc.weight and 1 more of 8 trainable parameters receive gradients and no optimizer holds them;
        SGD (train.py:42) holds 2 parameters of shape (1000, 64), ... that no module uses; expected each trainable
        parameter in one group.
    """

    needs: ClassVar[tuple[type[Wiring]]] = (Wiring,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "optimizer_params_mismatch"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "build the optimizer after the last change to the model (new head, .to(), wrapping)",
        "or hand the new parameters over: optimizer.add_param_group({'params': model.fc.parameters()})",
    )
    proved_by: ClassVar[str] = "optimizer/replaced_head"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a step, at the largest group of parameters left out, and each group once."""
        for fact in window.new(Wiring):
            lost = [p for p in fact.params if p.trainable and p.has_grad and p.held == 0]
            frozen = window.memory(self).setdefault("frozen", set())
            frozen |= {full_name(p) for p in fact.params if not p.trainable}
            twice = [o for o in fact.optimizers if o.doubled]
            if lost and len(twice) > 1 and whole_model(lost, fact):
                # it steps after the backward of that model
                wrong = next((o for o in twice if o.unheld_gradients), None)
                memory = window.memory(self)
                if wrong is not None and "twice" not in memory:
                    memory["twice"] = True
                    yield self.twice(window, fact, lost, wrong)
            elif lost and not fact.to_come:
                thawed = [p for p in lost if full_name(p) in frozen and not p.copied]
                found = self.describe(window, fact, thawed or lost, [o for o in fact.optimizers if o.strangers], thawed)
                said = found.severity, *map(full_name, thawed or lost)
                told = window.memory(self).setdefault("told", set())
                if said not in told:
                    told.add(said)
                    yield found

    def twice(self, window: Window, fact: Wiring, lost: list[ParamWiring], holder: OptimizerWiring) -> Finding:
        """A model that nobody holds, beside an optimizer that holds what another one holds."""
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        whose = " and ".join(holder.models)
        return self.finding(
            window,
            "error",
            f"{full_name(lost[0])}{more} receive gradients and no optimizer holds them; {holder.kind}"
            f"{spot(holder.frame)} holds the {holder.held} parameters of {whose}, which another optimizer holds "
            f"too; expected the parameters of {lost[0].model}. Give {lost[0].model}.parameters() to one of them.",
            ref=fact.ref,
            exact=False,
            confidence=0.95,
            place=Place(param=full_name(lost[0]), module=full_name(lost[0]).rpartition(".")[0], frame=holder.frame),
            remedies=(f"give {lost[0].model}.parameters() to this optimizer",),
            lost=len(lost),
            trainable=sum(p.trainable for p in fact.params),
        )

    def describe(
        self,
        window: Window,
        fact: Wiring,
        lost: list[ParamWiring],
        holders: list[OptimizerWiring],
        thawed: list[ParamWiring],
    ) -> Finding:
        """Which parameters, and which optimizer holds what instead."""
        trainable = sum(p.trainable for p in fact.params)
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        instead = ""
        if holders:
            shapes = ", ".join(str(s) for s in holders[0].stranger_shapes)
            instead = (
                f"; {holders[0].kind} holds {holders[0].strangers} parameters of shape {shapes} that no module uses"
            )
            if fact.second:
                instead += f"; the model is made again at{spot(fact.second).replace(' (', ' ').rstrip(')')}"
            elif fact.replaced:
                instead += f"; the layer was put in at{spot(fact.replaced).replace(' (', ' ').rstrip(')')}"
        built = next((o for o in [*holders, *fact.optimizers] if o.frame), None)
        frame = built.frame if built is not None else None
        listed = built.groups if built is not None and not holders else None
        made = f"; {built.kind}{spot(built.frame)} is given the list of line {listed.line}" if built and listed else ""
        drawn = (
            ", and some of them are spread as the weights of a new layer are" if lost[0].drawn and not holders else ""
        )
        advice = LISTED if listed else LATER
        if thawed and not holders:
            drawn, advice = ", and they were frozen in an earlier step", UNFROZEN
        if lost[0].copied and not holders:
            drawn, made, advice = "", ", a copy of weights that are trained", COPIED
        late = fact.replaced if holders and frame is not None and is_called_by_framework(frame) else None
        return self.finding(
            window,
            "error" if holders else "warning" if drawn else "note",
            f"{full_name(lost[0])}{more} of {trainable} trainable parameters receive gradients and no optimizer holds "
            f"them{instead}{drawn}{made}; "
            f"expected each trainable parameter in one group. {advice}",
            ref=fact.ref,
            exact=bool(holders),
            confidence=0.97 if holders else 0.9,
            place=Place(
                param=full_name(lost[0]),
                module=full_name(lost[0]).rpartition(".")[0],
                frame=(fact.second if holders else None) or late or listed or frame,
                symptom_frame=(fact.replaced if holders and not fact.second and not late else None) or frame,
            ),
            remedies=(ONCE, self.remedies[0]) if holders and fact.second else remedies_for(advice, self.remedies[1]),
            lost=len(lost),
            trainable=trainable,
        )


def is_called_by_framework(frame: Frame) -> bool:
    """Whether the optimizer is built by a method that a framework calls at its own time: what comes later has to
    move."""
    return frame.function.rpartition(".")[2] in HOOKS


def remedies_for(advice: str, handed: str) -> tuple[str, ...]:
    """The remedies that go with an advice; none where those of the check do."""
    known = {COPIED: (REMEDY_COPIED,), UNFROZEN: REMEDIES_UNFROZEN, LISTED: (REMEDY_LISTED, handed)}
    return known.get(advice, ())


def whole_model(lost: list[ParamWiring], fact: Wiring) -> bool:
    """Whether one of several models is held by nobody at all."""
    model = lost[0].model
    return bool(model) and all(p.held == 0 for p in fact.params if p.model == model)
