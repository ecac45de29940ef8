"""Builds what judges a step and what hears of it: incidents, recorder, gates, and the hooks in the order in which they
are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.diagnosis.incidents import IncidentOptions, Incidents
from debugtracer.diagnosis.late_consensus import LateConsensus
from debugtracer.diagnosis.proof.trial_budget import TrialBudget
from debugtracer.diagnosis.segment_end import SegmentEnd
from debugtracer.diagnosis.step_publisher import StepPublisher
from debugtracer.hooks.backward import BackwardHook
from debugtracer.hooks.clip import ClipHook
from debugtracer.hooks.compiled import CompileHook
from debugtracer.hooks.custom_function import CustomFunctionHook
from debugtracer.hooks.events.event_switch import EventSwitch
from debugtracer.hooks.events.resting_events import RestingEvents
from debugtracer.hooks.events.step_events import StepEvents
from debugtracer.hooks.exchanges import ExchangesHook
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.loading.loader import LoaderHook
from debugtracer.hooks.module import ModuleHook
from debugtracer.hooks.numeric_warnings import NumericWarningsHook
from debugtracer.hooks.optimizer import OptimizerHook
from debugtracer.hooks.resting_calls import RestingCalls
from debugtracer.hooks.scaler import ScalerHook
from debugtracer.hooks.scheduler import SchedulerHook
from debugtracer.hooks.swap_tensors import SwapTensorsHook
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.gate.backward_gate import BackwardGate
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.health_gate import HealthGate
from debugtracer.recorder.gate.resting_backwards import RestingBackwards
from debugtracer.recorder.gate.resting_steps import RestingSteps
from debugtracer.recorder.gate.step_gate import StepGate
from debugtracer.recorder.listeners import GateRanks, IncidentPolicy, NoPolicy, OneRank, SegmentListener
from debugtracer.recorder.recorder import Recorder
from debugtracer.recorder.run_state import RunState
from debugtracer.settings import Capture, GateNorms, Mode, Settings

if TYPE_CHECKING:
    from debugtracer.recorder.resume.resumption import Resumption


class Diagnosing:
    """Depends on the recording and on the replay."""

    def __init__(self, settings: Settings, recording: Recording, replaying: Replaying) -> None:
        state, stack, tape, output = recording.state, recording.stack, recording.tape, recording.output
        self.incidents = Incidents(
            output,
            state,
            stack,
            replaying.context,
            replaying.dispatcher,
            replaying.consensus,
            replaying.reyield,
            incident_options(settings),
        )
        holds, governor, run = replaying.stops_steps, recording.governor, replaying.observed_run
        ends = SegmentEnd(tape, state, recording.ring, output, self.incidents.findings, governor, run.emit)
        responding = None
        if settings.acts:
            from debugtracer.assembly.responding import Responding  # here: mode observe has no use for it

            responding = Responding(settings, recording, replaying, self.incidents, ends)
        self.responder = responding.responder if responding is not None else None
        self.resumption = resumption_of(settings, recording, replaying)
        policy: IncidentPolicy = self.incidents if holds else self.responder or NoPolicy()
        segments: SegmentListener = responding.segments if responding is not None else ends
        numbers = StepPublisher(recording.batches, run, self.incidents.findings, output)
        self.recorder = Recorder(state, tape, stack, self.incidents, output)
        mode = settings.mode.value
        self.health_gate = HealthGate(
            state,
            tape,
            self.incidents,
            numbers,
            self.ranks(settings, state, holds),
            device_numbers(settings),
            mode=mode,
            gate=settings.gate.value,
        )
        self.gate = StepGate(
            self.recorder, recording.copies, self.health_gate, replaying.dispatcher, policy, segments, output, governor
        )
        self.backward_gate = BackwardGate(self.recorder, self.incidents, numbers, segments, governor, mode=mode)
        dispatcher = replaying.dispatcher
        self.inspection = Inspection(lambda: run.inspecting and dispatcher.wants("called"))
        steps = RestingSteps(self.gate, numbers, recording.batches)
        self.events = EventSwitch(
            StepEvents(
                self.recorder,
                self.gate,
                self.backward_gate,
                dispatcher,
                self.inspection,
                policy,
                recording.ring,
                output,
            ),
            RestingEvents(self.recorder, steps, RestingBackwards(self.backward_gate, steps), dispatcher),
            dispatcher,
            governor,
        )
        self.add_hooks(settings, recording, replaying)

    def ranks(self, settings: Settings, state: RunState, holds: bool) -> GateRanks:
        """Choose who decides about a step with other ranks: mode dev at each update, the others where one is bad."""
        if holds:
            return self.incidents
        if settings.capture is not Capture.STEP:
            return OneRank()
        return LateConsensus(self.incidents, state, asks=settings.acts)

    def add_hooks(self, settings: Settings, recording: Recording, replaying: Replaying) -> None:
        """Add the hooks in the order in which they are installed; the function mode comes last, so that it is on
        top."""
        events, thread, stack, state = self.events, recording.thread, recording.stack, recording.state
        optimizers = OptimizerHook(events, thread, state)
        modules = ModuleHook(events, thread, state.open_root, RestingCalls(events, thread, state))
        backwards = BackwardHook(events, thread, stack, state)
        for hook in (modules, backwards, optimizers):
            events.on_rest(hook.rest)
        follows = settings.acts or settings.resume is not None or settings.skip_list is not None
        passes, left_out = (recording.passes, recording.left_out) if follows else (None, None)
        events.on_rest(self.incidents.findings.live.rest)
        events.calls.on_change(modules.rest_calls)
        modes = replaying.observed_run.mode_calls
        modes.on_call(events.calls.mode_called)
        events.calls.on_modes_rest(modes.rest)
        loader = LoaderHook(events, recording.batches, stack, state, thread, passes, left_out, replaying.stops_steps)
        events.calls.on_change(loader.rest_fetches)
        cost, moved = CallCost(state), recording.batches.moved
        free_calls = FreeCallMode(events, thread, recording.tape, stack, self.inspection, cost, moved)
        replaying.hooks.add(
            loader,
            backwards,
            optimizers,
            ScalerHook(events, thread),
            modules,
            ClipHook(events, thread),
            SchedulerHook(events, stack),
            CustomFunctionHook(events, stack),
            SwapTensorsHook(),
            NumericWarningsHook(recording.numeric_warnings),
            ExchangesHook(recording.output.opened_folder_of_rank),
            recording.output.heartbeat.signals,
            CompileHook(events, stack, modules, optimizers, state),
        )
        if settings.capture is Capture.STEP:
            replaying.hooks.add(free_calls)
        if settings.acts:
            replaying.hooks.add(state.averages)
        if self.resumption is not None:
            replaying.hooks.add(self.resumption)


def resumption_of(settings: Settings, recording: Recording, replaying: Replaying) -> Resumption | None:
    """What goes on from a saved state; None for a run that begins."""
    if settings.resume is None:
        return None
    from debugtracer.assembly.resuming import Resuming  # here: a run that begins has no use for it

    return Resuming(settings, settings.resume, recording, replaying).resumption


def incident_options(settings: Settings) -> IncidentOptions:
    """What the settings say of incidents."""
    return IncidentOptions(
        stops=settings.mode is Mode.DEV,
        most=settings.incidents,
        judges_on=settings.acts and bool(settings.respond),
        capsule_bytes=settings.capsule_bytes if settings.capture is Capture.STEP else 0,
        preset=settings.preset,
        budget=TrialBudget(settings.trials, settings.trials_s, settings.trial_order),
        state_bytes=settings.copy_bytes,
        library=settings.library,
    )


def device_numbers(settings: Settings) -> DeviceNumbers:
    """What computes the numbers of the gate on a device."""
    if settings.gate_norms is GateNorms.TORCH:
        return DeviceNumbers()
    from debugtracer.recorder.gate.triton_numbers import TritonNumbers  # here: few ask for it

    return TritonNumbers()
