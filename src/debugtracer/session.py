"""One process under watch: starts what the builders have made, and ends it."""

from __future__ import annotations

import atexit
import contextlib
from time import perf_counter

from debugtracer.assembly.diagnosing import Diagnosing
from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.callsites.crash_site import site_of
from debugtracer.diagnosis.incident_writer import VerdictDisplay
from debugtracer.errors import DEVICE_DIED, ReplayRefused, StoppedByTracer, StoppedCell, guarded
from debugtracer.observers.graph.inplace_writes import OVERWRITTEN
from debugtracer.recorder.output.rank_crashes import told_by_its_rank
from debugtracer.settings import Capture, Settings
from debugtracer.trace.facts.crash import InplaceWrites

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
        recording = Recording(settings)
        replaying = Replaying(settings, recording)
        diagnosing = Diagnosing(settings, recording, replaying)
        self.state, self.stack, self.thread = recording.state, recording.stack, recording.thread
        self.run_folder, self.output, self.governor = recording.run_folder, recording.output, recording.governor
        self.tape, self.batches, self.copies, self.ring = (
            recording.tape,
            recording.batches,
            recording.copies,
            recording.ring,
        )
        self.hooks, self.observed_run, self.dispatcher = replaying.hooks, replaying.observed_run, replaying.dispatcher
        self.incidents, self.recorder, self.health_gate = (
            diagnosing.incidents,
            diagnosing.recorder,
            diagnosing.health_gate,
        )
        self.backward_gate, self.responder = diagnosing.backward_gate, diagnosing.responder
        self.resumption = diagnosing.resumption
        self.died = False
        """An exception, also a stop of ours, has ended the program."""
        self.interrupted = False
        """The program has ended by Ctrl-C."""
        self.gate, self.events, self.inspection = diagnosing.gate, diagnosing.events, diagnosing.inspection

    def install(self) -> None:
        """Attach every hook; one that fails is counted and the others go on."""
        self.hooks.install()
        if self.settings.capture is Capture.STEP:
            guarded("install observers")(self.dispatcher.install)()
            self.inspection.update()
        self.governor.resume()
        atexit.register(self.finished)

    def remove(self) -> None:
        """Detach them, last first."""
        guarded("remove observers")(self.dispatcher.remove)()
        self.stack.pop()  # an interrupted forward may have pushed the mode where capture never installed it
        self.hooks.remove()
        if self.responder is not None:
            self.responder.end()
        self.run_folder.leave()
        atexit.unregister(self.finished)

    def show_on(self, display: VerdictDisplay) -> None:
        """Show verdicts there, and raise the stop of mode dev as that display raises it."""
        self.incidents.show_on(display)

    @guarded("session.crashed")
    def crashed(self, error: BaseException) -> None:
        """Called when the program dies of its own exception; a bad step that waited for its batch is reported first."""
        self.died = True
        its_own = not isinstance(error, StoppedByTracer) and not told_by_its_rank(error)
        if its_own:
            self.output.died(error)
        self.incidents.look_again(None)
        if its_own:
            guarded("session.raised")(self.raised)(error)
            self.dispatcher.crashed(guarded("session.on_host")(self.on_host)(error) or error)
            guarded("session.overwritten")(self.overwritten)(error)
            self.output.crash(error)

    def raised(self, error: BaseException) -> None:
        """Look for the birth of a value that is not finite, where the program raised because of it."""
        from debugtracer.diagnosis.raised_step import look_into_raised
        from debugtracer.replay.raised import about_values

        if self.settings.capture is not Capture.STEP or not about_values(error, site_of(error)):
            return
        alarm = self.recorder.on_raised(error)
        if alarm is None:
            return
        try:
            look_into_raised(self.incidents, alarm, error)
        except ReplayRefused as refused:
            self.output.note("raised", str(refused))

    def on_host(self, error: BaseException) -> BaseException | None:
        """Execute the step again on the host where its device says only that an index was outside: what that says, None
        where it refuses nothing."""
        if DEVICE_DIED not in str(error) or self.settings.capture is not Capture.STEP:
            return None
        from debugtracer.replay.on_host import refused_on_host

        self.recorder.join_failed(error)
        try:
            with self.incidents.context.paused():
                refused = refused_on_host([s for s in (self.tape.previous, self.tape.current) if s], self.batches)
        except ReplayRefused as why:
            self.output.note("on-host", str(why))
            return None
        if refused is None:
            return None
        self.observed_run.refused_on_host(refused.entry.frames)
        self.output.note("on-host", "the step was executed again on the CPU, with weights of the same shapes")
        return refused.error

    def overwritten(self, error: BaseException) -> None:
        """Execute the forward again where a backward died of a write in place, to see which line wrote."""
        if OVERWRITTEN not in str(error):
            return
        from debugtracer.replay.writes_again import writes_again

        try:
            writes = tuple(writes_again(self.tape.current, self.incidents.context))
        except ReplayRefused as refused:
            self.output.note("writes", str(refused))
            return
        ref = self.observed_run.ref("backward", self.state.iteration_in_flight)
        self.observed_run.emit(InplaceWrites(ref=ref, writes=writes, again=True))

    @guarded("session.finished")
    def finished(self, interrupted: bool = False) -> None:
        """Called when the program ends; numbers still on their way from a device are read first. After Ctrl-C nothing
        is trained again, however often it is called: somebody waits for the prompt."""
        self.interrupted = interrupted = self.interrupted or interrupted
        began, state, live = perf_counter(), self.state, self.incidents.findings.live
        counted_s = state.incident_s + live.judge_s
        guarded("session.finished")(self.incidents.look_again)(None)
        if self.output.writer is not None:
            # the run is over; the event is written for the supervisor
            with contextlib.suppress(StoppedByTracer, StoppedCell):
                guarded("session.collect")(self.health_gate.collect)()
            guarded("session.finished")(self.backward_gate.finish)()
        guarded("session.wake")(self.events.wake)()
        if self.resumption is not None and not self.died:
            guarded("session.resumption")(self.resumption.program_ended)()
        if interrupted:
            self.observed_run.interrupt()
        self.dispatcher.ended()
        guarded("session.judge")(self.incidents.findings.finish)(self.observed_run.take_facts(), interrupted)
        state.ended(perf_counter() - began - (state.incident_s + live.judge_s - counted_s))
        self.output.close()

    @guarded("session.write_counters")
    def write_counters(self) -> None:
        """Write how far the run has come, for a reader of the run folder."""
        if not self.output.ended:
            self.output.event(self.output.counters(final=False), now=True)

    def at_fork_before(self) -> None:
        """Flush, so that the child inherits nothing unwritten."""
        self.output.flush()

    def at_fork_child(self) -> None:
        """Drop writer, tape and counters: a forked child starts from nothing."""
        self.output.drop()
        self.reset()

    def settle(self) -> None:
        """Drop the step in flight when an exception passed through it and the process lives on; what was built is
        kept."""
        self.remove()
        self.stack.reset()
        self.events.settle()
        self.recorder.settle()
        self.health_gate.reset()
        self.gate.reset()
        self.backward_gate.reset()
        self.copies.held.clear()
        self.install()

    def anew(self) -> None:
        """Reset for a new run in a process that lives on: the next backward opens it."""
        self.output.renew()
        self.reset()
        self.settle()

    def reset(self) -> None:
        """Drop tape and counters, as if nothing was trained yet."""
        self.interrupted = False
        self.batches.clear()
        for part in (
            self.recorder,
            self.thread,
            self.incidents,
            self.ring,
            self.dispatcher,
            self.governor,
            self.events,
        ):
            part.reset()
        if self.responder is not None:
            self.responder.reset()
