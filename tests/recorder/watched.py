"""A recorder with its probes around a real training loop, without replay: alarms are kept, and stop the loop when asked."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from debugtracer.errors import StoppedByTracer
from debugtracer.probes.canary import is_bad, total_l2, worst_of
from debugtracer.probes.clip import Clips
from debugtracer.probes.frames import owner_module, raw_frames
from debugtracer.probes.free_calls import FreeCalls
from debugtracer.probes.loss import Backwards
from debugtracer.probes.module import RootCalls
from debugtracer.probes.optimizer import Gates, parameters
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.canaries import Canaries
from debugtracer.recorder.copies import Copies
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.tape import Tape
from debugtracer.recorder.updates import Updates


class Watched:
    """The session's wiring of the recorder; `with Watched() as w:` around a loop."""

    def __init__(self, *, gate: str = "auto", mode: str = "dev", stops: bool = False, own_share: float = 0.02) -> None:
        self.alarms: list[Alarm] = []
        self.points: list[tuple[int, dict[str, float]]] = []
        self.stops = stops
        self.tape = Tape(raw_frames)
        self.recorder = Recorder(self.tape, self.alarm, total_l2, raw_frames, owner_module)
        self.copies = Copies(2**30, own_share)
        self.canaries = Canaries(self.recorder, parameters, is_bad, worst_of, lambda step, values: self.points.append((step, values)), mode=mode, gate=gate)
        self.updates = Updates(self.recorder, self.copies, self.canaries)
        self.free = FreeCalls(self.tape, self.recorder.on_peek)
        self.recorder.suspend, self.recorder.resume = self.free.suspend, self.free.resume
        self.roots = RootCalls(self.recorder.on_enter, self.recorder.on_leave)
        self.gates = Gates(self.updates.gate, self.zero_grad, raw_frames, self.recorder.on_optimizer)
        self.probes: list[Any] = [
            Backwards(self.recorder.on_backward, self.recorder.after_backward, self.recorder.paused),
            self.gates,
            self.roots,
            Clips(lambda f, a, k: self.recorder.on_quiet_call("clip", f, a, k)),
            self.free,
        ]

    def zero_grad(self, owner: Any, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As the session hands it on."""
        return self.recorder.on_quiet_call("zero_grad", original, (owner, *args), kwargs)

    def alarm(self, alarm: Alarm) -> None:
        """What the session's incidents would look into."""
        self.alarms.append(alarm)
        self.recorder.quiet_until_healthy = True
        if self.stops:
            raise StoppedByTracer

    def __enter__(self) -> Watched:
        for probe in self.probes:
            probe.install()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for probe in reversed(self.probes):
            probe.remove()

    @property
    def symptoms(self) -> list[tuple[str, int]]:
        """(symptom, step) of each alarm."""
        return [(a.symptom, a.step) for a in self.alarms]
