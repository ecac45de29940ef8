"""What an observer may ask of the run that it observes, and where it puts what it has seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any

from torch import nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of, user_frames
from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.observers.data.own_batches import OwnBatches
from debugtracer.observers.look_cadence import LookCadence
from debugtracer.observers.model.first_call import FirstCall
from debugtracer.observers.model.mode_calls import ModeCalls
from debugtracer.observers.model.shadow_copies import ShadowCopies
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import FormSeen
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.step import Phase, StepRef

MOST_FAILURES = 3  # of an observer, after which it is left alone (ours)
RARELY = 10  # close looks that are due of which one is taken where they rest, of a hundred where all does (ours)
FIRST_STEPS = 3  # steps inspected from the start (docs/rationale/checks.md#effect-invariants)
NEW_STEPS = 2  # steps inspected after an optimizer was built, in flight or next (ours)
MOST_NEW = 4  # optimizers of which that is so (ours)

FAKE_TENSORS = "torch._subclasses.fake_tensor"  # whose exceptions are not imported before they are needed


class ObservedRun:
    """One per process; shared by all observers. What an observer raises is counted, and after three failures it is left
    alone."""

    def __init__(
        self,
        state: RunState,
        batches: BatchLog,
        stack: ModeStack,
        disabled: Callable[[], AbstractContextManager[Any]],
        governor: Governor,
        *,
        inspect_steps: int,
        function_tests: bool,
        looks_at_rest: bool = False,
        joined_samples: Callable[[Batch, int], tuple[int, ...] | None] = lambda batch, length: None,
        samples_by_value: Callable[[Batch, Sequence[int]], tuple[int, ...] | None] = lambda batch, rows: None,
        kept_bytes: Callable[[], int] = lambda: 0,
        odd_form: Callable[[LoaderInfo, Sequence[int], Sequence[int], bool], FormSeen | None] = lambda *asked: None,
    ) -> None:
        self.state, self.batches, self.stack, self.paused = state, batches, stack, stack.paused
        self.disabled = disabled
        """Makes a context in which no hook of ours listens: calls of our own."""
        self.joined_samples = joined_samples
        """Fetches samples again to tell which of them each place of a joined batch belongs to."""
        self.samples_by_value = samples_by_value
        """The same for rows that a collate_fn may have sorted."""
        self.kept_bytes = kept_bytes
        """Bytes of batches and snapshots that the recorder keeps for replays."""
        self.odd_form = odd_form
        """Fetches samples again to tell which one cannot be made, or is unlike the others, and where it first
        differs."""
        self.governor = governor
        self.inspect_steps = inspect_steps
        self.cadence = LookCadence(state, inspect_steps, at_rest=looks_at_rest)
        self.decided: int | None = None
        """The step for which `inspects` was decided."""
        self.inspects = False
        self.built = 0
        """Optimizers that were built."""
        self.new_until = 0
        """The step before which all are inspected, for an optimizer was built."""
        self.function_tests = function_tests
        """The user allows extra forwards on the first step."""
        self.shadows = ShadowCopies()
        self.mode_calls = ModeCalls()
        self.own_batches = OwnBatches()
        self.function_calls: dict[type[Any], FirstCall] = {}
        """By the class of an autograd.Function of the program's: its first call, of those before the first backward."""
        self.facts: list[Fact] = []
        self.values: dict[str, float] = {}
        """Numbers of this step for series of their own (`val_loss`, `logged/NAME`, `tracked/NAME`)."""
        self.restore_listeners: list[Callable[[str, Any], None]] = []
        self.evaluation_listeners: list[Callable[[], None]] = []
        self.failures: dict[int, int] = {}
        self.unwanted: set[Callable[..., None]] = set()
        """Methods of observers that are not to be called: there is nothing left for them to do."""
        self.subscription_listeners: list[Callable[[set[str]], None]] = []
        self.interrupted = False
        """Somebody waits for the end of the run: nothing is executed again."""
        self.refused_call: Any = None
        """Raw user frames of the call that the host refused, where the program died of a device that says no more."""
        self.off = False
        """No event is handed on just now: the calls are ours."""

    def interrupt(self) -> None:
        """Called before the end of a run that was interrupted."""
        self.interrupted = True

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A context for what an observer asks beside an event, in a function of torch's that it stands in for: it is
        not recorded, and its seconds are ours."""
        begin = perf_counter()
        with self.paused():
            yield
        self.state.own_s += perf_counter() - begin

    def refused_on_host(self, frames: Any) -> None:
        """Called before the exception of the host is told in place of that of a device."""
        self.refused_call = frames

    def on_restored(self, listener: Callable[[str, Any], None]) -> None:
        """Call the listener after each load_state_dict that the program made itself."""
        self.restore_listeners.append(listener)

    def restored(self, word: str, owner: Any) -> None:
        """Report that load_state_dict of a module (`weights`), optimizer, scheduler or scaler returned."""
        for listener in self.restore_listeners:
            listener(word, owner)

    def on_evaluated(self, listener: Callable[[], None]) -> None:
        """Call the listener after each evaluation, when training goes on."""
        self.evaluation_listeners.append(listener)

    def evaluated(self) -> None:
        """Report that an evaluation is over."""
        for listener in self.evaluation_listeners:
            self.attempt(listener, ())

    def on_subscription(self, listener: Callable[[set[str]], None]) -> None:
        """Call the listener with names of events whenever other methods of observers are to be called for them."""
        self.subscription_listeners.append(listener)

    def unsubscribe(self, *methods: Callable[..., None]) -> None:
        """Call these methods of an observer no more until subscribe(), or until it is reset: a call costs microseconds
        in each step."""
        self.tell_subscriptions(set(methods) - self.unwanted)

    def subscribe(self, *methods: Callable[..., None]) -> None:
        """Call these methods of an observer again."""
        self.tell_subscriptions(self.unwanted.intersection(methods))

    def tell_subscriptions(self, changed: set[Callable[..., None]]) -> None:
        """Let the dispatcher list anew for whose events methods are called; nothing where none has changed."""
        if changed:
            self.unwanted ^= changed
            for listener in self.subscription_listeners:
                listener({method.__name__ for method in changed})

    def attempt(self, listener: Callable[..., None], args: tuple[Any, ...]) -> None:
        """Call a method of an observer, guarded. Raises StoppedByTracer alone. Half a microsecond beside the call."""
        if self.failures and self.gave_up(listener):
            return
        try:
            listener(*args)
        except StoppedByTracer:
            raise
        except Exception as error:
            self.failed(getattr(listener, "__self__", listener), error)

    def failed(self, observer: object, error: Exception) -> bool:
        """Count a failure of an observer; True if it is left alone from now on. That a fake or meta
        tensor has no values is none."""
        if type(error).__module__ == FAKE_TENSORS or "meta tensor" in str(error).lower():
            return False
        self.failures[id(observer)] = self.failures.get(id(observer), 0) + 1
        swallow(f"observers.{type(observer).__name__}", error)
        return self.gave_up(observer)

    def gave_up(self, observer: object) -> bool:
        """Whether an observer, or the one whose method this is, has failed too often."""
        return self.failures.get(id(getattr(observer, "__self__", observer)), 0) >= MOST_FAILURES

    def emit(self, fact: Fact) -> None:
        """Write down a fact; it is judged with the next step."""
        self.facts.append(fact)

    def put(self, series: str, value: float) -> None:
        """Put a number of a series; it is judged with the step in flight, and the last one of a step wins."""
        self.values[series] = value

    def take_values(self) -> dict[str, float]:
        """The numbers since the last call."""
        values, self.values = self.values, {}
        return values

    def take_facts(self) -> list[Fact]:
        """The facts since the last call."""
        facts, self.facts = self.facts, []
        return facts

    @property
    def step(self) -> int:
        """The number of the optimizer step in flight."""
        return self.state.step

    @property
    def iteration(self) -> int:
        """The number of the next outermost backward (during one: its own, until it has ended)."""
        return self.state.iteration

    @property
    def inspecting(self) -> bool:
        """Whether this step is inspected: the first three, then every `inspect_steps`-th, more often after an anomaly.
        Only those may cost more. Rarer where that costs more than was promised."""
        step = self.state.step
        if step != self.decided:
            idle = self.decided is not None and self.decided < step < self.cadence.idle_until
            self.decided = step
            idle = idle and self.state.anomalies == self.cadence.seen and step >= self.new_until
            self.inspects = not idle and self.is_due(step)
        return self.inspects

    def is_due(self, step: int) -> bool:
        """Return whether a step is to be inspected; asked once a step."""
        first = step < FIRST_STEPS or step < self.new_until
        if first or not self.cadence.is_due(step):
            return first
        if self.governor.affords(Part.LOOKS):
            return True
        rarely = RARELY if self.governor.affords(Part.CALLS) else RARELY**2
        return step % (rarely * self.inspect_steps) == 0

    def optimizer_built(self) -> None:
        """Called when an optimizer was built, which begins to train something: the step in flight and the next are
        inspected, whatever rests. Not after some of them, for there are programs that build one for each task."""
        self.built += 1
        if self.built <= MOST_NEW:
            self.new_until, self.decided = self.state.step + NEW_STEPS, None

    def affords(self, part: Part) -> bool:
        """Whether a part of what we do works in this step, or rests to stay under the promised cost."""
        return self.governor.affords(part)

    @property
    def compiles(self) -> bool:
        """Whether the program compiles something: no global hooks and no function mode inside modules then."""
        return self.state.compiles

    @property
    def optimizers(self) -> ById[Optimizer, Any]:
        """The optimizers of the training thread, with the raw user frames of their constructors."""
        return self.state.optimizers

    def ref(self, phase: Phase = "loss", iteration: int | None = None) -> StepRef:
        """Return this place in the run; pass `iteration` where the counter is already one ahead (after a backward)."""
        return StepRef(
            iteration=self.state.iteration if iteration is None else max(iteration, 0),
            step=self.state.step,
            phase=phase,
        )

    def here(self) -> Frame | None:
        """The user's innermost line now. Reads the source: not on a hot path."""
        frames = user_frames(1)
        return frames[0] if frames else None

    def built_at(self, optimizer: Optimizer) -> Frame | None:
        """Where the user built an optimizer."""
        raw = self.state.optimizers.get(optimizer)
        frames = frames_of(raw) if raw is not None else ()
        return frames[0] if frames else None

    def names(self) -> dict[int, str]:
        """Map the id of each parameter to its path, without wrapper prefixes. Walks all modules: not on a hot path."""
        return self.state.roots.named_parameters()

    def modules(self) -> list[nn.Module]:
        """The root modules called so far that have parameters; inside a Lightning module, that module."""
        known = list(self.state.roots.known.items())
        roots = [
            (root.owner() if root.owner is not None else None) or module
            for module, root in known
            if root.has_parameters
        ]
        return list({id(module): module for module in roots}.values())

    def reset(self) -> None:
        """Reset all observers; called in a forked child."""
        self.facts.clear()
        self.values.clear()
        self.unwanted.clear()
        self.cadence.reset()
        self.decided = None
        self.built = self.new_until = 0
