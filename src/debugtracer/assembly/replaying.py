"""Builds what a step is executed again with: the context of a replay, the observers that are silent meanwhile, and what
several ranks need for it."""

from __future__ import annotations

import torch

from debugtracer.assembly.recording import Recording
from debugtracer.callsites.frames import frames_of
from debugtracer.diagnosis.rank_consensus import RankConsensus
from debugtracer.errors import guarded
from debugtracer.hooks.hook_set import HookSet
from debugtracer.observers.dispatcher import ObserverDispatcher
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.kept_bytes import KeptBytes
from debugtracer.replay.fetch.joined_samples import joined_samples
from debugtracer.replay.fetch.odd_form import odd_form
from debugtracer.replay.fetch.samples_by_value import samples_by_value
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.reyield import ReYield
from debugtracer.settings import Capture, Mode, Settings, Switch


class Replaying:
    """Depends on the recording."""

    def __init__(self, settings: Settings, recording: Recording) -> None:
        state = recording.state
        self.hooks = HookSet(recording.stack)
        self.observed_run = ObservedRun(
            state,
            recording.batches,
            recording.stack,
            self.hooks.disabled,
            recording.governor,
            inspect_steps=settings.inspect_steps,
            function_tests=settings.function_tests is Switch.ON,
            looks_at_rest=settings.mode is Mode.PROD,
            joined_samples=guarded("replay.joined_samples")(joined_samples),
            samples_by_value=guarded("replay.samples_by_value")(samples_by_value),
            kept_bytes=KeptBytes(recording.ring).count,
            odd_form=guarded("replay.odd_form")(odd_form),
        )
        self.dispatcher = ObserverDispatcher(self.observed_run)
        self.hooks.pause_too(self.dispatcher)
        self.context = ReplayContext(
            state.roots,
            state.root_states,
            recording.batches,
            recording.copies,
            torch.autograd.backward,  # the original: hooks are installed later
            parameters,
            frames_of,
            self.hooks.disabled,
            recording.ring,
            state.compiled,
            numeric_warnings=recording.numeric_warnings,
        )
        self.stops_steps = settings.mode is Mode.DEV and settings.capture is Capture.STEP
        """A bad step is held back: all ranks agree on it, and the loop may get its batch again."""
        replays = settings.capture is Capture.STEP
        sharded = self.stops_steps or settings.acts
        self.consensus = RankConsensus(state.roots.alive, sharded, settings.ranks_s) if replays else None
        self.reyield = ReYield(self.context) if self.stops_steps else None
