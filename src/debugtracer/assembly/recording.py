"""Builds what a run is recorded in: its state, its files, the tape, the copies and the ring."""

from __future__ import annotations

import functools

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.recorder.governor import Governor, Part
from debugtracer.recorder.left_out_samples import LeftOutSamples
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.output.run_folder import RunFolder
from debugtracer.recorder.resume.loader_passes import LoaderPasses
from debugtracer.recorder.run_state import RunState, parameters
from debugtracer.recorder.state.copies import Copies
from debugtracer.recorder.state.snapshot_ring import SnapshotRing
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape
from debugtracer.settings import Capture, Mode, Settings
from debugtracer.trace.store.skip_list import read_skip_list

OUR_FRAMES = 4  # the tape's own, and at the least two more between it and the program


class Recording:
    """Depends on the settings alone."""

    def __init__(self, settings: Settings) -> None:
        self.state = RunState()
        # the other modes hold a bad update back, so each has to be read before it
        kept = () if settings.mode is Mode.OBSERVE else (Part.GRADIENTS, Part.STEPS)
        self.governor = Governor(settings.cost, self.state, kept=kept)
        self.stack = ModeStack()
        self.thread = TrainingThread()
        self.run_folder = RunFolder(settings.run_dir, settings.out, settings.name, settings.mode.value)
        self.output = Output(
            self.run_folder.find,
            self.state,
            settings.mode.value,
            flush_steps=settings.flush_steps,
            flush_s=settings.flush_s,
            run_bytes=settings.run_bytes,
        )
        self.tape = Tape(functools.partial(raw_frames, OUR_FRAMES))
        self.batches = BatchLog()
        self.numeric_warnings: list[NumericWarning] = []
        self.passes = LoaderPasses()
        self.left_out = LeftOutSamples(read_skip_list(settings.skip_list) if settings.skip_list is not None else {})
        self.passes.add_listener(self.left_out)
        self.copies = Copies(settings.copy_bytes, settings.own_share)
        ring_bytes = settings.ring_bytes if settings.capture is Capture.STEP else 0
        self.ring = SnapshotRing(
            parameters,
            self.state.roots.alive,
            ring_bytes,
            settings.ring_place,
            loop=self.state if settings.acts else None,
        )
