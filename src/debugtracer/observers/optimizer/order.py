"""Records the calls of one update in order, for each optimizer: zero_grad, forward, backward, clip, step, schedule."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.optimizer.fresh_input import FreshInput
from debugtracer.observers.optimizer.gradient_use import GradientUse
from debugtracer.observers.optimizer.loss_reduction import is_divided, is_mean, is_sum
from debugtracer.observers.optimizer.unstepped import UNSTEPPED, Unstepped
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.order import Call, NoStep, StepOrder
from debugtracer.trace.number import number

FIRST = 3  # updates of each optimizer, then inspected steps (docs/rationale/checks.md#order-automaton)
BY_SCALE = ("SGD", "ASGD")  # optimizers whose update is as large as the gradient is
MOST_CALLS = 64  # calls of one update that are kept (ours): an accumulation over more is cut
MOST_OPTIMIZERS = 64  # followed (ours)
NAMED = 4  # stale parameters named as evidence


class OptimizerCalls:
    """The calls of one optimizer since its last update."""

    def __init__(self, use: GradientUse, frame: Frame | None) -> None:
        self.use = use
        self.frame = frame
        """Where the user built the optimizer."""
        self.unstepped = Unstepped()
        self.calls: list[Call] = []
        self.armed = False
        """Its last update was followed, so the next one is."""
        self.whole = True
        """Every call since the last update was seen."""
        self.scaled = False
        self.chased = 0
        """Updates running that were followed only because the one before was stale."""

    def add(self, call: Call) -> None:
        """Add one more call of this update."""
        if len(self.calls) < MOST_CALLS:
            self.calls.append(call)


class OrderObserver(Observer):
    """Compares identities and versions of gradients; a value is read only where a used gradient still stands."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.logs: ById[Optimizer, OptimizerCalls] = ById()
        self.known: list[OptimizerCalls] = []
        self.scaler: Any = lambda: None
        self.scaling = False
        """A scaler has multiplied a loss since the last backward; the loss itself may be gone by then."""
        self.forwards = False
        self.input = FreshInput()
        self.batch: Batch | None = None
        """The batch that was the latest at the last backward."""

    def reset(self) -> None:
        self.input = FreshInput()
        self.logs.clear()
        self.known.clear()
        self.batch = None

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Note the calls that belong to it from here on."""
        self.course_of(optimizer)

    def missed(self) -> None:
        """Forget which gradients were used: those that are there now may be others."""
        for log in list(self.logs.values()):
            log.use.forget()
            self.restart(log, armed=False)
            log.whole = False
        self.forwards = self.scaling = False

    def course_of(self, optimizer: Optimizer) -> OptimizerCalls:
        """What is known of an optimizer."""
        log = self.logs.get(optimizer)
        if log is None:
            log = self.logs[optimizer] = OptimizerCalls(
                GradientUse(optimizer, len(self.known)), self.run.built_at(optimizer)
            )
            if len(self.known) < MOST_OPTIMIZERS:
                self.known.append(log)
        return log

    def followed(self) -> list[OptimizerCalls]:
        """The optimizers whose calls are noted now; the others miss this call."""
        chosen = []
        early = self.run.iteration < UNSTEPPED
        for optimizer, log in list(self.logs.items()):
            if optimizer in self.run.state.foreign:
                continue
            if self.run.inspecting or log.armed or (log.use.steps < FIRST and (log.use.steps or early)):
                chosen.append(log)
            else:
                log.whole = False
        return chosen

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note a forward with a graph; it is added with the backward that follows."""
        if self.forwards or not torch.is_grad_enabled():
            return
        self.forwards = True
        self.input.came(args)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note gradients that were used and still stand, and whether the loss is a scaled one."""
        for log in list(self.logs.values()):
            log.use.before = {}
        followed = self.followed()
        raw = raw_frames(1) if followed else ()
        for log in followed:
            log.use.backward_begins(raw, self.run.iteration)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note whose gradients the backward wrote."""
        scaled, self.scaling = self.scaling, False
        batch, self.batch = self.batch, self.run.batches.last()
        if not any(log.use.before or not log.use.steps for log in list(self.logs.values())):
            self.forwards = False
            return  # as in most steps
        raw = raw_frames(1)
        frame = first(raw)
        loss = self.run.state.scaled.unscaled(losses[0]) if losses else None
        divided = loss is not None and is_divided(loss)
        microbatch = loss is not None and self.batch is not batch and not is_sum(loss)
        alone = loss is not None and self.input.is_fresh and is_mean(loss)
        for optimizer, log in list(self.logs.items()):
            if optimizer in self.run.state.foreign:
                continue
            if log.use.before:
                live = log.use.backward_ended()
                if self.forwards:
                    log.add(Call(word="forward"))
                one = microbatch or (alone and log.use.kind in BY_SCALE)
                call = Call(word="backward", frame=frame, live=live, scaled=scaled, divided=divided, microbatch=one)
                log.add(call)
                log.scaled = scaled if live else log.scaled
            else:
                live = not log.use.steps and any(p.grad is not None for p in log.use.held()[:8])
            if live and not log.use.steps and log.unstepped.count(log.use.held(), raw):
                self.emit_unstepped(log)
        self.forwards = False

    def emit_unstepped(self, log: OptimizerCalls) -> None:
        """Emit an optimizer without steps, unless another one that steps holds its parameters."""
        never = log.unstepped
        if any(never.held & (c.unstepped.held or {id(p) for p in c.use.held()}) for c in self.known if c.use.steps):
            return
        never.emitted = never.backwards
        self.run.emit(
            NoStep(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=log.use.number,
                kind=log.use.kind,
                frame=log.frame,
                backward_frame=first(never.last_backward),
                backwards=never.backwards,
                zeroed=never.zeroed,
            )
        )

    def zeroed(self, owner: Any) -> None:
        """Note that the gradients of this optimizer or module are gone, or 0."""
        followed = self.followed()
        asking = [c for c in list(self.logs.values()) if c.use.used or not c.use.steps or any(c is f for f in followed)]
        if not asking:
            return
        ids = {id(p) for p in (parameters(owner) if isinstance(owner, Optimizer) else owner.parameters())}
        frame = first(raw_frames(1))
        for log in asking:
            mine = ids & {id(p) for p in log.use.held()}
            if mine:
                log.use.clear(mine)
                log.unstepped.zeroed += not log.use.steps and log.unstepped.backwards > 0
                log.add(Call(word="zero_grad", frame=frame, live=bool(log.use.fresh)))

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Note what the call clipped, and whether there was anything to clip."""
        followed = self.followed()
        if not followed:
            return
        given = [args[0]] if isinstance(args[0], Tensor) else list(args[0])
        ids = {id(p) for p in given}
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm", kwargs.get("clip_value"))
        measured = norm if isinstance(norm, Tensor) and norm.device.type == "cpu" else None
        scale = getattr(self.scaler(), "_scale", None)
        for log in followed:
            if ids & {id(p) for p in log.use.held()}:
                log.use.clipped(ids)
                log.add(
                    Call(
                        word="clip",
                        frame=first(raw_frames(1)),
                        live=bool(log.use.fresh),
                        scaled=log.scaled and bool(log.use.fresh),
                        scale=number(float(scale)) if log.scaled and isinstance(scale, Tensor) else None,
                        limit=None if limit is None else number(float(limit)),
                        norm=None if measured is None else number(float(measured.item())),
                    )
                )

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note unscaling that the program asks for."""
        self.scaler = weakref.ref(scaler)
        self.scaling = self.scaling or word == "scale"
        if word == "unscale":
            log = self.course_of_any(args[0] if args else kwargs.get("optimizer"))
            if log is not None:
                log.scaled = False
                log.add(Call(word="unscale", frame=first(raw_frames(1)), live=bool(log.use.fresh)))

    def course_of_any(self, optimizer: Any) -> OptimizerCalls | None:
        """The calls of an optimizer or of a wrapper around one."""
        inner = getattr(optimizer, "optimizer", optimizer)
        return self.logs.get(inner) if isinstance(inner, Optimizer) else None

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a scheduler call for one of the optimizers."""
        log = self.course_of_any(scheduler)
        if log is not None and any(log is c for c in self.followed()):
            log.add(Call(word="schedule", frame=first(raw_frames(1)), live=bool(log.use.fresh)))

    def step_ended(self, optimizer: Optimizer) -> None:
        """Emit what the update has used."""
        log = self.course_of(optimizer)
        if not any(log is c for c in self.followed()):
            log.use.used.clear()
            log.use.steps += 1
            return
        stale, again = log.use.stale(), log.use.repeated([call.word for call in log.calls])
        if log.whole:
            self.run.emit(self.step_order(log, optimizer, stale, again))
        log.use.took()
        log.chased = log.chased + 1 if stale and not self.run.inspecting else 0
        chased = bool(stale) and log.chased < FIRST
        self.restart(log, armed=chased or log.use.steps < FIRST or log.use.followed > 0 or self.run.inspecting)

    def step_order(self, log: OptimizerCalls, optimizer: Optimizer, stale: list[Tensor], again: int) -> StepOrder:
        """The calls, and the gradients this update had no right to."""
        names = self.run.names() if stale else {}
        held = log.use.held()
        others = [c.use for c in self.logs.values() if c is not log and c.use.used]
        shared = sum(
            any(use.used.get(id(p), 0) == (id(p.grad), p.grad._version) for use in others)
            for p in held
            if p.grad is not None
        )
        return StepOrder(
            ref=self.run.ref("update", self.run.iteration - 1), optimizer=log.use.number, kind=log.use.kind,
            number=log.use.steps, calls=tuple(log.calls), empty=log.use.empty(),
            stale=tuple(names.get(id(p), f"parameter of shape {tuple(p.shape)}") for p in stale[:NAMED]),
            stale_count=len(stale), grads=sum(p.grad is not None for p in held),
            stale_frame=first(log.use.frames) if stale else None, stale_iteration=log.use.iteration, repeated=again,
            step_frame=first(raw_frames(1)) if stale or again else None, shared=shared, held=len(held), frame=log.frame,
        )  # fmt: skip

    def step_closed(self, optimizer: Optimizer) -> None:
        """Close a step that a scaler skipped: its gradients were not used."""
        log = self.course_of(optimizer)
        if log.calls:
            log.use.fresh.clear()
            log.use.steps += 1
            self.restart(log, armed=log.armed)

    def restart(self, log: OptimizerCalls, armed: bool) -> None:
        """Begin the calls of the next update."""
        log.calls = []
        log.armed = armed
        log.whole = True
        log.scaled = False

    def ended(self) -> None:
        """Emit optimizers that never stepped."""
        for log in self.known:
            if not log.use.steps and log.unstepped.left():
                self.emit_unstepped(log)
