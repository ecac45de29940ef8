"""The composition root: wires the rooms for one process, computes nothing."""

from __future__ import annotations

import atexit
import contextlib
import functools
from typing import Any

import torch

from debugtracer.diagnosis.council import Council
from debugtracer.diagnosis.incidents import Incidents
from debugtracer.diagnosis.trials import Budget
from debugtracer.errors import StoppedByTracer, StoppedCell, guarded
from debugtracer.probes.canary import is_bad, total_l2, worst_of
from debugtracer.probes.clip import Clips
from debugtracer.probes.compiled import Compiled
from debugtracer.probes.custom_function import CustomFunctions
from debugtracer.probes.desk import Desk
from debugtracer.probes.frames import frames_of, owner_module, raw_frames, traceback_frames
from debugtracer.probes.free_calls import FreeCalls
from debugtracer.probes.loader import LoaderProbe
from debugtracer.probes.loss import Backwards
from debugtracer.probes.module import RootCalls
from debugtracer.probes.optimizer import Gates, parameters
from debugtracer.probes.probe import Probe
from debugtracer.probes.relay import Relay
from debugtracer.probes.scaler import Scalers
from debugtracer.probes.scaler_calls import ScalerCalls
from debugtracer.probes.scheduler import Schedulers
from debugtracer.probes.silence import Silence
from debugtracer.probes.swaps import Swaps
from debugtracer.recorder.batches import Batch, BatchLog
from debugtracer.recorder.canaries import Canaries
from debugtracer.recorder.copies import Copies
from debugtracer.recorder.output import Output
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.ring import Ring
from debugtracer.recorder.run_folder import RunFolder
from debugtracer.recorder.tape import Tape
from debugtracer.recorder.updates import Updates
from debugtracer.replay.reyield import ReYield
from debugtracer.replay.scene import Scene
from debugtracer.settings import Capture, Mode, Settings, Switch

current: Session | None = None


def start(settings: Settings | None = None) -> Session:
    """Start watching this process; a second call gives the session that runs. Raises UsageError on a bad setting."""
    global current
    if current is None:
        current = Session(settings or Settings.from_env())
        current.install()
    return current


def active() -> Session | None:
    """The session of this process, if one runs."""
    return current


def stop() -> None:
    """Stop watching; everything patched is as it was."""
    global current
    if current is not None:
        current.finished()
        current.remove()
        current = None


class Session:
    """One process under watch."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.run_folder = RunFolder(settings.run_dir, settings.out, settings.name, settings.mode.value)
        self.output = Output(
            self.run_folder.find,
            settings.mode.value,
            flush_steps=settings.flush_steps,
            flush_s=settings.flush_s,
            run_bytes=settings.run_bytes,
            traceback_frames=traceback_frames,
        )
        self.tape = Tape(raw_frames)
        self.batches = BatchLog()
        self.incidents = Incidents(
            self.output,
            stops=settings.mode is Mode.DEV,
            most=settings.incidents,
            capsule_bytes=settings.capsule_bytes if settings.capture is Capture.STEP else 0,
            preset=settings.preset,
            budget=Budget(settings.trials, settings.trials_s, settings.trial_order),
            state_bytes=settings.copy_bytes,
        )
        self.recorder = Recorder(self.tape, self.incidents.open, total_l2, raw_frames, owner_module)
        self.copies = Copies(settings.copy_bytes, settings.own_share)
        self.canaries = Canaries(self.recorder, parameters, is_bad, worst_of, self.publish, mode=settings.mode.value, gate=settings.gate.value)
        self.updates = Updates(self.recorder, self.copies, self.canaries)
        self.ring = Ring(parameters, self.recorder.roots.alive, settings.ring_bytes if settings.capture is Capture.STEP else 0, settings.ring_place)
        self.free = FreeCalls(self.tape, self.recorder.on_peek)
        self.loader = LoaderProbe(self.batches, self.recorder.paused)
        self.relay = relay = Relay(self.recorder, self.free, self.canaries)
        self.roots = RootCalls(relay.entered, relay.left)
        self.backwards = Backwards(relay.backward_begins, relay.backward_ended, self.recorder.paused)
        self.gates = Gates(self.updates.gate, relay.zero_grad, raw_frames, self.recorder.on_optimizer)
        self.desk = relay.desk = Desk(self.recorder, self.batches, self.gates.built, settings.inspect_steps, self.recorder.paused)
        self.desk.function_tests = settings.function_tests is Switch.ON
        self.scalers = Scalers()
        self.scalers.handle = ScalerCalls(self.recorder, self.scalers, self.updates, self.desk)
        self.clips = Clips(relay.clip)
        self.compiled = Compiled(self.recorder.on_custom_function, self.free.listening, self.roots, self.gates)
        self.probes: list[Probe] = [
            self.loader,
            self.backwards,
            self.gates,
            self.scalers,
            self.roots,
            self.clips,
            Schedulers(self.recorder.paused, functools.partial(self.desk.moment, "scheduled"), functools.partial(self.desk.moment, "scheduler_built")),
            CustomFunctions(self.recorder.on_custom_function, self.free.listening),
            Swaps(),
            self.output.stand.signals,
            self.compiled,
            self.free,
        ]
        self.wire()

    def wire_threads(self) -> None:
        """Every probe asks the same thread."""
        thread = self.roots.thread
        thread.on_move, thread.on_claim = self.free.move, self.gates.claimed
        self.backwards.here = thread.here
        self.backwards.on_other_thread = lambda: self.output.note("threads", "a second thread trains too: it runs untouched and is neither counted nor watched")
        for probe in (self.gates, self.scalers, self.clips, self.free):
            probe.elsewhere = thread.elsewhere

    def wire_reyield(self, reyield: ReYield) -> None:
        """Mode dev: the second mechanism of replay."""
        self.incidents.reyield = reyield
        self.loader.keep, self.loader.again = reyield.fetched, self.incidents.again
        self.loader.before_fetch = self.incidents.next_fetch
        self.updates.skip_step, self.updates.skip_write = self.incidents.skip_step, self.incidents.skip_write
        self.updates.give_up = self.incidents.close_waiting

    def wire(self) -> None:
        """Connect the rooms."""
        self.wire_threads()
        recorder = self.recorder
        recorder.suspend, recorder.resume, recorder.unscaled = self.free.suspend, self.free.resume, self.scalers.unscaled
        recorder.on_first_backward, recorder.on_built = self.output.open, self.ring.forget
        recorder.publish = self.publish
        self.output.stand.updates = lambda: recorder.step
        self.loader.on_fetch, self.loader.on_iter = self.fetched, functools.partial(self.desk.moment, "loader_iterated")
        self.compiled.on_compile = self.relay.compiles
        self.updates.moment, self.updates.counted, self.desk.silent = self.desk.moment, self.relay.look, self.silent
        self.free.scored = functools.partial(self.desk.moment, "scored")
        self.desk.is_foreign = self.gates.foreign.__contains__
        self.gates.on_built = functools.partial(self.desk.moment, "optimizer_built")
        self.updates.closed = self.closed
        self.incidents.step_s = lambda: self.updates.step_s
        self.incidents.ring, self.incidents.library = self.ring, self.settings.library
        self.updates.wait_s = self.loader.take_wait_s
        self.updates.on_stopped_copies = lambda why: self.output.note("copies-off", why)
        original = torch.autograd.backward
        self.incidents.scene = Scene(
            recorder.roots, recorder.states, self.batches, self.copies, original, parameters, frames_of, self.silent, self.ring, self.compiled.places
        )
        if self.settings.mode is Mode.DEV and self.settings.capture is Capture.STEP:
            self.wire_reyield(ReYield(self.incidents.scene))
            self.incidents.council = Council(recorder.roots.alive)
            self.canaries.meets, self.canaries.together = self.incidents.council.meets, self.incidents.at_gate
        self.incidents.at_incident = self.desk.incident
        self.incidents.recorder, self.incidents.built = recorder, self.gates.built

    def install(self) -> None:
        """Attach every probe; one that fails is counted and the others go on."""
        for probe in self.probes if self.settings.capture is Capture.STEP else [p for p in self.probes if p is not self.free]:
            guarded(f"install {type(probe).__name__}")(probe.install)()
        if self.settings.capture is Capture.STEP:
            guarded("install takers")(self.desk.open)()
            self.relay.look()
        atexit.register(self.finished)

    def remove(self) -> None:
        """Detach them, last first."""
        guarded("remove takers")(self.desk.close)()
        for probe in reversed(self.probes):
            guarded(f"remove {type(probe).__name__}")(probe.remove)()
        self.run_folder.leave()
        atexit.unregister(self.finished)

    def silent(self) -> Any:
        """A context in which nothing of the session listens: the replay's own calls."""
        return Silence(self.free, self.probes, self.desk)

    def fetched(self, batch: Batch, data: Any) -> None:
        """A batch arrived."""
        if self.roots.reset():
            self.relay.inspection.end()
            self.free.install()
        self.recorder.on_fetch()
        self.desk.moment("fetched", batch, data)

    def closed(self, step_s: float) -> None:
        """A segment is over: its tape goes to the ring, and perhaps the state after it."""
        tape = self.tape
        if tape.previous is not None:
            self.ring.segment(tape.previous, self.recorder.states.get(tape.previous.number, ()))
        why = self.ring.consider(tape.current.number, self.recorder.step, list(self.gates.built), step_s)
        if why:
            self.output.note("ring-off", why)
        self.incidents.between_steps()

    def publish(self, step: int, values: dict[str, float]) -> None:
        """The numbers of a step."""
        self.batches.step_done()
        values |= self.desk.take_values()
        guarded("session.checks")(self.incidents.step_done)(step, values, self.desk.take())
        self.relay.look()
        self.output.point(step, values, self.recorder, self.updates)

    @guarded("session.crashed")
    def crashed(self, error: BaseException) -> None:
        """The program dies of its own exception; a bad step that waited for its re-yield is reported first."""
        self.incidents.look_again(None)
        if not isinstance(error, StoppedByTracer):
            self.desk.moment("crashed", error)
            self.output.crash(error, self.recorder)

    @guarded("session.finished")
    def finished(self) -> None:
        """The program ends; a canary still on its way is read first."""
        guarded("session.finished")(self.incidents.look_again)(None)
        if self.output.writer is not None:
            with contextlib.suppress(StoppedByTracer, StoppedCell):  # the run is over; the event written tells the supervisor
                guarded("session.collect")(self.canaries.collect)()
        self.desk.moment("ended")
        guarded("session.judge")(self.incidents.finish)(self.desk.take())
        self.output.close(self.recorder, self.updates)

    @guarded("session.stand")
    def stand(self) -> None:
        """How far it has come is written down, for a reader of the run folder."""
        if not self.output.ended:
            self.output.event(self.output.state(self.recorder, self.updates, final=False), now=True)

    def at_fork_before(self) -> None:
        """Flush, so that the child inherits nothing unwritten."""
        self.output.flush()

    def at_fork_child(self) -> None:
        """A forked child starts from nothing: no writer, no tape, counters at 0."""
        self.output.drop()
        self.forget()

    def settle(self) -> None:
        """Something was thrown through a step and the process lives on (a notebook): nothing of that step is in flight. What was built is still known."""
        self.remove()
        self.free.off, self.backwards.depth = 0, 0
        self.roots.reset()
        self.relay.inspection.end()
        self.recorder.settle()
        self.canaries.forget()
        self.updates.forget()
        self.copies.held.clear()
        self.install()

    def anew(self) -> None:
        """The run is over and the process lives on: the next backward opens a run of its own."""
        self.output.renew()
        self.forget()
        self.settle()

    def forget(self) -> None:
        """Nothing was trained yet: no tape, counters at 0."""
        self.batches.clear()
        for room in (self.recorder, self.roots.thread, self.incidents, self.ring, self.desk):
            room.forget()
        self.recorder.on_first_backward = self.output.open
