"""A recorder with its hooks around a real training loop, without replay: alarms are kept, and stop the loop when
asked."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from debugtracer.callsites.frames import raw_frames
from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.backward import BackwardHook
from debugtracer.hooks.clip import ClipHook
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.module import ModuleHook
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.gate.backward_gate import BackwardGate
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.health_gate import HealthGate
from debugtracer.recorder.gate.step_gate import StepGate
from debugtracer.recorder.governor import Governor
from debugtracer.recorder.listeners import IncidentPolicy, NoPolicy, OneRank
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.run_state import RunState, parameters
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape
from debugtracer.recorder.training_events import TrainingEvents


class NoObservers(TrainingEvents):
    """Nobody listens."""


class Watched:
    """The session's wiring of the recorder; `with Watched() as w:` around a loop. It hears alarms, numbers, notes and
    closed segments itself."""

    def __init__(
        self,
        *,
        gate: str = "auto",
        mode: str = "dev",
        stops: bool = False,
        own_share: float = 0.02,
        observers: TrainingEvents | None = None,
        policy: IncidentPolicy | None = None,
        device_numbers: DeviceNumbers | None = None,
    ) -> None:
        self.alarms: list[Alarm] = []
        self.points: list[tuple[int, dict[str, float]]] = []
        self.notes: list[tuple[str, str]] = []
        self.opened = self.closed = 0
        self.stops = stops
        self.state, self.stack = RunState(), ModeStack()
        self.thread = thread = TrainingThread()
        self.tape = Tape(raw_frames)
        self.copies = Copies(2**30, own_share)
        ring = SnapshotRing(parameters, self.state.roots.alive, 0)
        observers, policy = observers or NoObservers(), policy or NoPolicy()
        self.recorder = Recorder(self.state, self.tape, self.stack, self, Opened(self))
        self.health_gate = HealthGate(
            self.state,
            self.tape,
            self,
            self,
            OneRank(),
            device_numbers,
            mode=mode,
            gate=gate,
        )
        self.gate = StepGate(
            self.recorder, self.copies, self.health_gate, observers, policy, self, self, Governor(1.0, self.state)
        )
        self.backward_gate = BackwardGate(self.recorder, self, self, self, Governor(1.0, self.state), mode=mode)
        inspection = Inspection(lambda: False)
        self.events = StepEvents(
            self.recorder, self.gate, self.backward_gate, observers, inspection, policy, ring, self
        )
        self.free = FreeCallMode(self.events, thread, self.tape, self.stack, inspection, CallCost(self.state))
        self.hooks: list[Any] = [
            BackwardHook(self.events, thread, self.stack, self.state),
            OptimizerHook(self.events, thread, self.state),
            ModuleHook(self.events, thread, self.state.open_root),
            ClipHook(self.events, thread),
            self.free,
        ]

    def open(self, alarm: Alarm) -> None:
        """What the session's incidents would look into."""
        self.alarms.append(alarm)
        self.state.quiet_until_healthy = True
        if self.stops:
            raise StoppedByTracer

    def publish(self, step: int, values: dict[str, float]) -> None:
        """Numbers of a step."""
        self.points.append((step, values))

    def note(self, what: str, text: str) -> None:
        """A sentence for doctor."""
        self.notes.append((what, text))

    def update_over(self) -> None:
        """After each step."""

    def segment_closed(self) -> None:
        """Between two steps."""
        self.closed += 1

    def __enter__(self) -> Watched:
        for hook in self.hooks:
            hook.install()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for hook in reversed(self.hooks):
            hook.remove()

    @property
    def symptoms(self) -> list[tuple[str, int]]:
        """(symptom, step) of each alarm."""
        return [(a.symptom, a.step) for a in self.alarms]


class Opened:
    """Stands where the session has its output: counts how often the first backward asked for it."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def open(self) -> None:
        self.watched.opened += 1
