"""Compares parameters, optimizers and gradients with each other when an inspected step closes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.bound_names import bound_name, list_given_to
from debugtracer.callsites.frozen_twice import frozen_twice
from debugtracer.callsites.optimizers_to_come import optimizers_to_come
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.replaced_part import replaced_at
from debugtracer.callsites.second_model import second_model
from debugtracer.hooks.optimizer import subclasses
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.optimizer.unheld import Unheld
from debugtracer.observers.weights.default_init import DefaultInit
from debugtracer.observers.weights.follower import Follower
from debugtracer.observers.weights.trained_copy import copies_trained
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.wiring import OptimizerWiring, ParamWiring, Wiring

SHAPES = 4  # shapes of foreign parameters kept as evidence


class WiringObserver(Observer):
    """Identity only, so nothing waits for a device; values are read where gradients go to parameters that nobody
    holds."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.drawn = DefaultInit()
        self.follower = Follower()
        self.stepped: ById[Optimizer, bool] = ById()
        """Optimizers that have stepped: the model of another one may not have run yet."""
        self.labels: ById[nn.Module, str] = ById()
        """Names that the program has for its models."""
        self.seen: dict[int, tuple[int, int]] | None = None
        """Gradients that no optimizer held when the last step closed, and their versions."""
        self.groups: ById[Optimizer, Frame | None] = ById()
        self.held: ById[Tensor, bool] = ById()
        """Parameters that some optimizer has held so far."""
        self.waiting = Unheld()
        self.source_read = False
        """Whether the line that freezes a second time was looked for."""
        self.again: Frame | None = None

    def reset(self) -> None:
        self.follower = Follower()
        self.waiting = Unheld()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note which models run in a step."""
        if self.run.inspecting:
            self.follower.entered.add(id(module))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Compare parameters by identity, over all optimizers that are alive."""
        if optimizer not in self.stepped:
            self.stepped[optimizer] = True
            self.hold(optimizer)
        if not self.run.inspecting:
            return
        live = list({id(o): o for o in [*self.run.optimizers, optimizer]}.values())
        counts: dict[int, int] = {}
        for one in live:
            for p in parameters(one):
                counts[id(p)] = counts.get(id(p), 0) + 1
            self.hold(one)
        named = {id(p): (name, p) for module in self.run.modules() for name, p in module.named_parameters()}
        tables = {id(p) for module in self.run.modules() for p in own_tables(module)}
        names = self.run.names()
        models = self.models()
        # a part whose optimizer is gone was trained in an earlier stage
        receives = {k for k, (_, p) in named.items() if p.grad is not None and (k in counts or p not in self.held)}
        lost = [p for key, (_, p) in named.items() if p.requires_grad and key in receives and key not in counts]
        drawn = self.drawn.untouched(lost, self.run.iteration)
        copied = bool(lost) and copies_trained(lost, (p for key, (_, p) in named.items() if key in counts))
        wired = tuple(
            ParamWiring(
                name=names.get(key, name),
                numel=p.numel(),
                trainable=p.requires_grad,
                held=counts.get(key, 0),
                has_grad=key in receives,
                model=models.get(key, ""),
                drawn=drawn and key not in counts,
                copied=copied and key not in counts,
                table=key in tables,
            )
            for key, (name, p) in named.items()
        )
        seen = {id(p): (id(p.grad), p.grad._version) for p in lost if p.grad is not None}
        unheld_gradients, self.seen = self.seen not in (None, seen), seen
        told = [self.described(one, named.keys(), models, counts, one is optimizer, unheld_gradients) for one in live]
        whole = bool(lost) and not any(one.strangers or one.doubled for one in told)
        fact = Wiring(
            ref=self.run.ref("update", self.run.iteration - 1),
            params=wired,
            optimizers=tuple(told),
            replaced=self.replaced(lost, told) if lost and any(one.strangers for one in told) else None,
            second=self.second(lost, told),
            follower=self.follower.finds_copy(self.run.modules(), counts),
            to_come=whole and self.to_come(told),
            frozen_again=self.frozen_again(wired),
        )
        if fact.to_come:
            self.waiting.wait(fact, lost, list(named), drawn)
        self.run.emit(fact)

    def frozen_again(self, wired: Sequence[ParamWiring]) -> Frame | None:
        """The line that freezes a second time, where an optimizer holds something frozen. Reads source, once."""
        if not self.source_read and any(p.held and not p.trainable and not p.table for p in wired):
            self.source_read, self.again = True, frozen_twice(program_files() or [])
        return self.again

    def hold(self, optimizer: Optimizer) -> None:
        """Note what an optimizer holds: nothing waits for it any longer."""
        for p in parameters(optimizer):
            self.held[p] = True
        self.waiting.let_go(self.held)

    def to_come(self, told: list[OptimizerWiring]) -> bool:
        """Whether the program builds another optimizer later, as far as its source tells. Reads source."""
        kinds = {kind.__name__ for kind in subclasses(Optimizer)}
        built = [one.frame for one in told if one.frame is not None]
        return optimizers_to_come(kinds, built, program_files() or [])

    def ended(self) -> None:
        """Emit what was still to be handed to an optimizer, where it never was."""
        fact = self.waiting.over()
        if fact is not None:
            self.run.emit(fact)

    def replaced(self, lost: Sequence[Tensor], told: list[OptimizerWiring]) -> Frame | None:
        """The line that put in the layer of the first of these. Reads source."""
        file = next((one.frame.file for one in told if one.strangers and one.frame), None)
        found = ((root, name) for root in self.run.modules() for name, p in root.named_parameters() if p is lost[0])
        root, name = next(found, (None, ""))
        return replaced_at(root, name.rpartition(".")[0], file) if root is not None else None

    def second(self, lost: Sequence[Tensor], told: list[OptimizerWiring]) -> Frame | None:
        """The line that made the model again, where an optimizer holds as many strangers of the shapes of all that it
        has. Reads source."""
        shapes = [tuple(p.shape) for p in lost]
        twins = (o for o in told if o.strangers == len(lost) and list(o.stranger_shapes) == shapes[:SHAPES])
        if not lost or next(twins, None) is None:
            return None
        wanted = {id(p) for p in lost}
        root = next((r for r in self.run.modules() if {id(p) for p in r.parameters()} == wanted), None)
        return second_model(type(root), program_files() or []) if root is not None else None

    def models(self) -> dict[int, str]:
        """Map the id of each parameter to the program's name of its model; empty where the loop calls one."""
        roots = self.run.modules()
        inside = {id(part) for root in roots for part in root.modules() if part is not root}
        tops = [root for root in roots if id(root) not in inside]
        if len(tops) < 2:
            return {}
        for root in tops:
            if not self.labels.get(root):
                self.labels[root] = bound_name(root) or type(root).__name__
        return {id(p): self.labels.get(root) or "" for root in tops for p in root.parameters()}

    def described(
        self,
        optimizer: Optimizer,
        known: object,
        models: dict[int, str],
        counts: dict[int, int],
        closed: bool,
        unheld_gradients: bool,
    ) -> OptimizerWiring:
        """Describe one optimizer beside what the loop has called and what others hold."""
        held = parameters(optimizer)
        strangers = [p for p in held if id(p) not in known and p.grad is None] if optimizer in self.stepped else []  # type: ignore[operator]
        frame = self.run.built_at(optimizer)
        if optimizer not in self.groups:
            self.groups[optimizer] = list_given_to(frame) if frame is not None else None
        shapes = tuple(tuple(p.shape) for p in strangers[:SHAPES])
        return OptimizerWiring(
            kind=type(optimizer).__name__,
            frame=frame,
            groups=self.groups.get(optimizer),
            shared=sum(counts.get(id(p), 0) > 1 for p in held),
            unheld_gradients=closed and unheld_gradients,
            models=tuple(dict.fromkeys(models[id(p)] for p in held if id(p) in models)),
            held=len(held),
            strangers=len(strangers),
            stranger_shapes=shapes,
            idle=closed and bool(held) and not any(p.requires_grad or p.grad is not None for p in held),
        )


def own_tables(root: nn.Module) -> Iterator[Tensor]:
    """Yield the parameters that modules hold whose class is not torch's."""
    for module in root.modules():
        if not type(module).__module__.startswith("torch."):
            yield from (p for p in module._parameters.values() if p is not None)
