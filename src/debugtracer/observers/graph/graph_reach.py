"""Finds on inspected steps how far backward reaches, and where a graph was cut."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_cut import NUMBERS, cut_at, described, ends, given
from debugtracer.observers.graph.graph_walk import leaves
from debugtracer.observers.graph.lost_layers import LostLayers, made_at, spare
from debugtracer.observers.model.frozen_models import frozen_models
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.unregistered import hidden
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.optimizer.plain_tensors import hold_plain_alone
from debugtracer.observers.weights.default_init import DefaultInit
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.sharded import owners
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.graph_reach import Cut, GraphReach, LossWithoutGraph, Stranger

NAMED = 32  # names kept as evidence
SETTLED = 4  # looks after which a lost layer is looked up in the source (ours)
MOST_CUTS = 16  # calls of one step that end a graph (ours)
MOST_LEAVES = 256  # plain leaves of one step's graphs that are looked for in modules (ours)
MOST_CUT_NODES = 5000  # nodes walked for one of them (ours)
SIGHTS = frozenset((
    "size", "__len__", "dim", "numel", "__repr__", "__format__", "isnan", "isfinite", "stride", "is_contiguous",
    "data_ptr", "__hash__",
))  # fmt: skip


class GraphReachObserver(Observer):
    """Identity of tensors and nodes of the graph; no value is read, no tensor with a graph is kept."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.used: dict[int, tuple[int, RawFrames, str | None, bool]] = {}
        """id of a parameter -> (iteration, line, module path, with a graph), of its last use."""
        self.hit: dict[int, int] = {}
        """id of a leaf -> iteration of the last loss that hangs on it."""
        self.cuts: list[tuple[int, str, RawFrames, str | None, frozenset[int]]] = []
        self.free: dict[int, tuple[weakref.ref[Tensor], RawFrames]] = {}
        """Leaves of the last graphs."""
        self.closed: dict[int, int] = {}
        self.order: list[weakref.ref[Optimizer]] = []
        self.strange: frozenset[int] = frozenset()
        self.symptom: RawFrames = ()
        self.layers = LostLayers()
        self.looks: dict[int, int] = {}
        self.loose_at: set[RawFrames] = set()
        self.drawn = DefaultInit()
        self.unseen: set[int] = set()
        """ids of parameters of roots that were called without a graph: whether they took part was not seen."""
        self.followed: dict[int, int] = {}
        """id of a root -> iteration of its last call with a graph."""
        self.inside = False
        """A root call runs: what fills, copies or logs parameters outside is no use of them."""
        self.whole: dict[int, int] = {}
        """id of a whole parameter that a forward uses -> id of the sharded one."""

    def reset(self) -> None:
        for store in (self.used, self.hit, self.cuts, self.free, self.closed, self.unseen, self.followed):
            store.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note which parameters take part, and whether a graph ends here."""
        graph = torch.is_grad_enabled()
        for value in given(args, kwargs) if self.inside else ():
            if isinstance(value, nn.Parameter):
                self.use(value, graph)
        if graph and len(self.cuts) < MOST_CUTS:
            self.cut(function, args, kwargs, output)
        self.layers.differentiated(function, args, kwargs)

    def missed(self) -> None:
        """Forget what was reached: the next step is compared with itself alone."""
        for kept in (self.hit, self.used, self.free, self.cuts):
            kept.clear()
        self.inside, self.closed = False, dict.fromkeys(self.closed, self.run.iteration)

    def use(self, parameter: nn.Parameter, graph: bool) -> None:
        """Note a trainable parameter that is an argument; a use with a graph counts more than one without."""
        if not parameter.requires_grad:
            return
        key = self.key_of(parameter)
        known = self.used.get(key)
        if known is None or known[0] != self.run.iteration or (graph and not known[3]):
            self.used[key] = self.run.iteration, raw_frames(3), None, graph

    def key_of(self, leaf: Tensor) -> int:
        """Return the id of a leaf; of the sharded parameter that stands for it in the optimizer, if any."""
        if not self.run.state.roots.sharded:
            return id(leaf)
        if id(leaf) not in self.whole:
            self.whole = {key: id(parameter) for key, parameter in owners(self.run.modules()).items()}
        return self.whole.get(id(leaf), id(leaf))

    def cut(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a call that takes a tensor with a graph and returns a value without."""
        name = getattr(function, "__name__", "")
        if name in SIGHTS or not ends(name, output):
            return
        if inside := [v for v in given(args, kwargs) if isinstance(v, Tensor) and v.grad_fn is not None]:
            found = frozenset(map(self.key_of, leaves(inside, MOST_CUT_NODES).values()))
            self.cuts.append((self.run.iteration, name, raw_frames(2), self.module(), found))

    def module(self) -> str | None:
        """The path of the module that runs."""
        running = running_module()
        return path_of(running, self.run.modules()) if running is not None else None

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note that a root call begins."""
        self.inside = True

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the parameters of a root called without a graph: its functions were not seen one by one. One that is
        called with a graph too is only evaluated there, and what it does not use with a graph it may use nowhere."""
        self.inside = False
        keys = {self.key_of(parameter) for parameter in module.parameters()}
        if torch.is_grad_enabled():
            self.layers.returned(output)
            self.layers.made_by(module, output, raw_frames(2))
            self.followed[id(module)] = self.run.iteration
            for key in keys & self.unseen & self.used.keys():
                if not self.used[key][3]:
                    del self.used[key]
        elif self.followed.get(id(module)) != self.run.iteration:
            self.unseen |= {key for key in keys if self.used.get(key, (-1,))[0] != self.run.iteration}
            for parameter in module.parameters():
                self.use(parameter, False)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Walk the whole graph down to its leaves."""
        hanging = [loss for loss in losses if loss.grad_fn is not None]
        if not hanging and losses:
            self.loose(losses)
        if not self.run.inspecting:
            return
        self.symptom = raw_frames(2)
        found = leaves(hanging)
        self.layers.handed_out(self.symptom, {self.key_of(leaf) for leaf in found.values()})
        if hanging and not any(isinstance(leaf, nn.Parameter) for leaf in found.values()) and self.trains(found):
            self.loose(losses)
        for leaf in found.values():
            key = self.key_of(leaf)
            self.hit[key] = self.run.iteration
            if isinstance(leaf, nn.Parameter) or len(self.free) < MOST_LEAVES:
                self.free[key] = WeakRef(leaf), self.used[key][1] if key in self.used else ()

    def trains(self, found: dict[int, Tensor]) -> bool:
        """True if trainable parameters took part, and no optimizer holds what the loss hangs on."""
        held = {id(p) for one in self.run.optimizers for p in parameters(one)}
        used = any(at == self.run.iteration and graph for at, _, _, graph in self.used.values())
        return used and bool(held) and held.isdisjoint(found)

    def loose(self, losses: list[Tensor]) -> None:
        """Emit a loss that hangs on nothing; a leaf that is a parameter or learnable input is fine."""
        if any(isinstance(loss, nn.Parameter) or loss.numel() != 1 for loss in losses):
            return
        here = raw_frames(3)
        if here in self.loose_at:
            return
        self.loose_at.add(here)
        cut, frame = next((c for c in reversed(self.cuts) if c[0] == self.run.iteration), None), self.run.here()
        learnt = [tensor for one in self.run.optimizers for tensor in parameters(one)]
        frozen = frozen_models(self.run.modules(), frame, self.run.step, learnt)
        self.run.emit(
            LossWithoutGraph(
                ref=self.run.ref("backward"),
                leaf=any(loss.requires_grad for loss in losses),
                cut=described(cut) if cut else None,
                frame=frame,
                frozen=frozen.parameters,
                model=frozen.model,
                frozen_by=frozen.by,
                updates=self.run.step if frozen.parameters else 0,
                called_at=frozen.called_at,
                plain=hold_plain_alone(self.run.optimizers),
            )
        )

    def step_closed(self, optimizer: Optimizer) -> None:
        """Compare with what the optimizer holds, then forget older steps."""
        number = self.number(optimizer)
        since = self.closed.get(number, -1)
        self.closed[number] = self.run.iteration
        if self.run.inspecting and self.hit:
            self.emit_step(optimizer, number, since)
        kept: tuple[Any, ...] = (self.cuts, self.free)
        for store in kept if self.run.inspecting else (*kept, self.hit, self.used, self.unseen):
            store.clear()

    def number(self, optimizer: Optimizer) -> int:
        """The number of an optimizer, in the order of their first step."""
        for number, reference in enumerate(self.order):
            if reference() is optimizer:
                return number
        self.order.append(weakref.ref(optimizer))
        return len(self.order) - 1

    def emit_step(self, optimizer: Optimizer, number: int, since: int) -> None:
        """Write down how far its backward reached."""
        names, holds = self.run.names(), [p for p in parameters(optimizer) if p.requires_grad]
        lost = [
            p
            for p in holds
            if p.grad is None
            and id(p) in self.used
            and self.used[id(p)][0] >= since
            and self.hit.get(id(p), -2) < since
        ]
        idle = [p for p in holds if p.grad is None and id(p) not in self.used and id(p) not in self.hit]
        idle = [p for p in idle if not optimizer.state.get(p)]  # an expert that rests now has been updated before
        self.looks[number] = self.looks.get(number, -1) + 1
        lasting, stood = self.layers.follow(number, lost)
        reached = [p for p in holds if self.hit.get(id(p), -2) >= since]
        self.run.emit(
            GraphReach(
                lasting=lasting,
                stood=stood,
                used=next(iter(frames_of(self.used[id(lost[0])][1])), None) if lost else None,
                made=made_at(self.run.modules(), names.get(id(lost[0]), "")) if lasting == SETTLED else None,
                look=self.looks[number],
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=type(optimizer).__name__,
                number=number,
                built=self.run.built_at(optimizer),
                reached=sum(p.numel() for p in reached),
                spare=spare(lost, reached, names, self.layers.given),
                lost_numel=sum(p.numel() for p in lost),
                lost=tuple(names.get(id(p), "?") for p in lost[:NAMED]),
                asleep=bool(lost) and self.sleeps({id(p) for p in lost}),
                idle=tuple(names.get(id(p), "?") for p in idle[:NAMED]),
                idle_count=len(idle),
                cut=self.where(lost),
                symptom=next(iter(frames_of(self.symptom)), None),
                **self.strangers(names, optimizer),
            )
        )

    def sleeps(self, wanted: set[int]) -> bool:
        """True if the modules that own these are in evaluation mode."""
        owners = [
            m
            for root in self.run.modules()
            for m in root.modules()
            if any(id(p) in wanted for p in nn.Module.parameters(m, recurse=False))
        ]
        return bool(owners) and not any(m.training for m in owners)

    def where(self, lost: list[Tensor]) -> Cut | None:
        """The last call that ended a graph these parameters were in; else where they were used without a graph."""
        wanted = {id(p) for p in lost}
        reaching = [cut for cut in self.cuts if wanted & cut[4]]
        tensors = [cut for cut in reaching if cut[1] not in NUMBERS - {"numpy"}]
        if reaching:
            return described((tensors or reaching)[-1])
        for p in lost:
            _, raw, _, graph = self.used[id(p)]
            if not graph:
                return cut_at("no_grad", raw)
        return None

    def strangers(self, names: dict[int, str], closing: Optimizer) -> dict[str, Any]:
        """Find parameters in the graph that no module and no optimizer holds."""
        held = {id(p) for one in [*self.run.optimizers, closing] for p in parameters(one)}
        alive = {key: (leaf, raw) for key, (reference, raw) in self.free.items() if (leaf := reference()) is not None}
        unknown = {key: value for key, value in alive.items() if key not in names and key not in held}
        places = hidden(self.run.modules(), set(unknown)) if unknown else {}
        known = {
            key: value
            for key, value in unknown.items()
            if isinstance(value[0], nn.Parameter) or self.forgotten(key, value[0], places)
        }
        before, self.strange = self.strange, frozenset(known)
        if not known:
            return {}
        found = []
        for key, (leaf, raw) in list(known.items())[:NAMED]:
            path, owner, members, frame = places.get(key, (None, None, 0, None))
            used = next(iter(frames_of(raw)), None)
            plain = not isinstance(leaf, nn.Parameter)
            at, shape = frame or used, tuple(leaf.shape)
            found.append(Stranger(path=path, owner=owner, members=members, shape=shape, frame=at, plain=plain))
        drawn = self.drawn.untouched([leaf for leaf, _ in known.values()], self.run.iteration)
        return {"strangers": tuple(found), "fresh": bool(before) and not before & self.strange, "drawn": drawn}

    def forgotten(self, key: int, leaf: Tensor, places: dict[int, Any]) -> bool:
        """True for a plain tensor that a module keeps, drawn as weights are, and that nobody updates."""
        return key in places and self.drawn.untouched([leaf], self.run.iteration)
