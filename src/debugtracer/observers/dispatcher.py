"""Hands every event of the training to the observers that override it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import StoppedByTracer
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import ALWAYS, INSPECTED, OF_FUNCTIONS, Observer
from debugtracer.plugins import members
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.recorder.training_events import EVENTS, TrainingEvents
from debugtracer.trace.facts.fact import Fact

# events of a step, of which whole ones may be missed to stay under the promised cost; the others are always handed on
OF_STEPS = frozenset(
    {
        "fetched", "entered", "left", "called", "scored", "backward_begins", "backward_ended", "zeroed", "clipped",
        "scaler_called", "scaler_returned", "step_begins", "step_ended", "step_closed", "scheduled",
    }
)  # fmt: skip


class ObserverDispatcher(TrainingEvents):
    """One per process."""

    def __init__(self, run: ObservedRun) -> None:
        self.run, self.state, self.stack = run, run.state, run.stack
        self.observers: dict[str, Observer] = {}
        self.overriding: dict[str, list[Observer]] = {}
        """Event -> who overrides it; nothing while none are attached."""
        self.listeners: dict[str, list[Callable[..., None]]] = {}
        """Event -> who hears it in an inspected step."""
        self.steady: dict[str, list[Callable[..., None]]] = {}
        """Event -> who hears it in any other."""
        self.at_rest: dict[str, list[Callable[..., None]]] = {}
        """Event -> who hears it also while the others rest."""
        self.asking: dict[tuple[int, str], list[Callable[..., None]]] = {}
        """One of those lists of `called`, and the name of a function -> who of it asks about that function."""
        self.rests = False
        run.on_restored(self.restored)
        run.on_subscription(self.subscribe_again)

    def install(self) -> None:
        """Find the observers (the folder is the registry) and attach them."""
        import debugtracer.observers

        if not self.observers:  # a session that listens again knows what it knew
            # every event has a body: nothing is left abstract
            self.observers = by_name(members(debugtracer.observers, Observer, self.run))  # type: ignore[type-abstract]
        self.subscribe()
        for observer in self.observers.values():
            self.run.attempt(observer.install, ())

    def subscribe(self) -> None:
        """List the observers that override each event, once, in the order of their names."""
        for name in EVENTS:
            heard = [o for o in self.observers.values() if getattr(type(o), name) is not getattr(TrainingEvents, name)]
            self.overriding[name] = [o for o in heard if not self.run.gave_up(o)]
        self.subscribe_again(EVENTS)

    def subscribe_again(self, names: Iterable[str]) -> None:
        """List for these events alone whom they are handed to: observers come and go within a step."""
        for name in self.overriding.keys() & names:
            heard = [m for o in self.overriding[name] if (m := getattr(o, name)) not in self.run.unwanted]
            self.listeners[name] = heard
            self.at_rest[name] = [m for m in heard if name not in OF_STEPS or hasattr(m, ALWAYS)]
            self.steady[name] = [m for m in heard if not hasattr(m, INSPECTED)]
            if name == "called":
                self.asking.clear()

    def remove(self) -> None:
        """Detach them, last first."""
        for observer in reversed(list(self.observers.values())):
            self.run.attempt(observer.remove, ())
        self.overriding.clear()
        self.listeners.clear()
        self.steady.clear()
        self.at_rest.clear()
        self.asking.clear()

    def pause(self) -> None:
        """Hand nothing on until resume(): the calls are ours."""
        self.run.off = True

    def resume(self) -> None:
        """Emit again, after a pause()."""
        self.run.off = False

    def rest(self, rests: bool) -> None:
        """Hand events on to those alone that lose track otherwise, until rest(False): to stay under the promised
        cost."""
        self.rests = rests

    def wants(self, name: str) -> bool:
        """Whether any observer listens to an event."""
        return bool(self.listeners.get(name)) and not self.run.off

    def dispatch(self, name: str, *args: Any) -> None:
        """Call the observers of one event. Never raises into the host, but for the stop of mode dev."""
        told = self.at_rest if self.rests else self.listeners if self.run.inspecting else self.steady
        listeners = told.get(name)
        if name == "called" and listeners:
            listeners = self.asked(listeners, args[0])
        # inside vmap and grad tensors have no values
        if not listeners or self.run.off or torch._C._are_functorch_transforms_active():
            return
        begin = perf_counter()
        popped = self.stack.suspend()
        try:
            with measuring(self.state.roots.sharded):
                for listener in listeners:
                    try:  # written out, for it is done a hundred times a step
                        listener(*args)
                    except StoppedByTracer:
                        raise
                    except Exception as error:
                        self.failed(listener, error)
        finally:
            self.stack.resume(popped)
            self.state.own_s += perf_counter() - begin

    def asked(self, listeners: list[Callable[..., None]], function: Any) -> list[Callable[..., None]]:
        """List who asks about functions of this name; once for each name."""
        name = getattr(function, "__name__", "")
        if type(name) is not str:
            return listeners
        known = self.asking.get((id(listeners), name))
        if known is None:
            known = [m for m in listeners if (asks := getattr(m, OF_FUNCTIONS, None)) is None or asks(name)]
            self.asking[id(listeners), name] = known
        return known

    def failed(self, listener: Callable[..., None], error: Exception) -> None:
        """Count a failure; an observer that fails again and again hears nothing more."""
        if self.run.failed(getattr(listener, "__self__", listener), error):
            self.subscribe()

    def facts_of_incident(self) -> tuple[Fact, ...]:
        """Tell the observers of an incident; the facts of its step."""
        self.incident()
        return tuple(self.run.facts)

    def reset(self) -> None:
        """Reset the run and all observers; called in a forked child."""
        self.run.reset()
        if self.overriding:
            self.subscribe()
        for observer in self.observers.values():
            self.run.attempt(observer.reset, ())

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        self.dispatch("loader_iterated", info, iterator)

    def fetched(self, batch: Batch, data: Any) -> None:
        self.dispatch("fetched", batch, data)

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        self.dispatch("entered", module, args)

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self.dispatch("left", module, args, kwargs, output)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self.dispatch("called", function, args, kwargs, output)

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self.dispatch("scored", function, args, kwargs, output)

    def backward_begins(self, losses: list[Tensor]) -> None:
        self.dispatch("backward_begins", losses)

    def backward_ended(self, losses: list[Tensor]) -> None:
        self.dispatch("backward_ended", losses)

    def zeroed(self, owner: Any) -> None:
        self.dispatch("zeroed", owner)

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        self.dispatch("clipped", name, args, kwargs, norm)

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dispatch("scaler_called", word, scaler, args, kwargs)

    def scaler_returned(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dispatch("scaler_returned", word, scaler, args, kwargs)

    def step_begins(self, optimizer: Optimizer) -> None:
        self.dispatch("step_begins", optimizer)

    def step_ended(self, optimizer: Optimizer) -> None:
        self.dispatch("step_ended", optimizer)

    def step_closed(self, optimizer: Optimizer) -> None:
        self.dispatch("step_closed", optimizer)

    def optimizer_changed(self, optimizer: Optimizer) -> None:
        self.dispatch("optimizer_changed", optimizer)

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dispatch("scheduled", scheduler, args, kwargs)

    def restored(self, word: str, owner: Any) -> None:
        self.dispatch("restored", word, owner)

    def optimizer_built(self, optimizer: Optimizer) -> None:
        self.run.optimizer_built()
        self.dispatch("optimizer_built", optimizer)

    def scheduler_built(self, scheduler: Any) -> None:
        self.dispatch("scheduler_built", scheduler)

    def missed(self) -> None:
        self.dispatch("missed")

    def incident(self) -> None:
        self.dispatch("incident")

    def crashed(self, error: BaseException) -> None:
        self.dispatch("crashed", error)

    def ended(self) -> None:
        self.dispatch("ended")


def by_name(found: dict[str, Observer]) -> dict[str, Observer]:
    """Sort observers by the name of their file alone, so that folders do not change the order in which they are
    called."""
    return {name: found[slug] for name, slug in sorted((slug.rpartition("/")[2], slug) for slug in found)}
