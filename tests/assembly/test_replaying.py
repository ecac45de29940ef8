"""What a step is executed again with: it shares the parts of the recording, and only mode dev with a tape holds steps
back."""

from __future__ import annotations

import pytest
import torch

from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.settings import Settings


def built(out, **more: object) -> tuple[Recording, Replaying]:
    settings = Settings.from_env({}, out=out, **more)
    recording = Recording(settings)
    return recording, Replaying(settings, recording)


def test_a_replay_sees_what_the_recording_holds(tmp_path):
    recording, replaying = built(tmp_path)
    context, state = replaying.context, recording.state
    assert context.roots is state.roots and context.states is state.root_states and context.compiled is state.compiled
    assert (
        context.batches is recording.batches and context.copies is recording.copies and context.ring is recording.ring
    )
    assert context.backward is torch.autograd.backward
    assert not context.whole


def test_the_observers_hear_nothing_of_a_replay(tmp_path):
    recording, replaying = built(tmp_path)
    with replaying.context.paused():
        assert replaying.observed_run.off and recording.stack.off == 1
    assert not replaying.observed_run.off and recording.stack.off == 0


def test_the_settings_of_the_observers_reach_their_run(tmp_path):
    _, replaying = built(tmp_path, inspect_steps=7, function_tests="off")
    assert (replaying.observed_run.inspect_steps, replaying.observed_run.function_tests) == (7, False)
    assert replaying.dispatcher.run is replaying.observed_run


@pytest.mark.parametrize(
    ("mode", "capture", "stops"),
    [("dev", "step", True), ("dev", "canary", False), ("observe", "step", False), ("prod", "step", False)],
)
def test_a_bad_step_is_held_back_in_mode_dev_with_a_tape(tmp_path, mode, capture, stops):
    _, replaying = built(tmp_path, mode=mode, capture=capture)
    assert replaying.stops_steps == stops
    assert (replaying.reyield is not None) == stops
    assert (replaying.consensus is not None) == (capture == "step")
