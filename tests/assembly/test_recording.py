"""What a run is recorded in, built from the settings alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.assembly.recording import Recording
from debugtracer.settings import Settings


def recording(out: Path, **more: object) -> Recording:
    return Recording(Settings.from_env({}, out=out, **more))


def test_building_patches_nothing_and_makes_no_file(tmp_path):
    before = torch.autograd.backward, torch.optim.Optimizer.__init__
    made = recording(tmp_path / "runs")
    assert (torch.autograd.backward, torch.optim.Optimizer.__init__) == before
    assert not (tmp_path / "runs").exists()
    assert (made.state.step, made.tape.current.entries, made.output.writer) == (0, [], None)


def test_the_output_reads_the_state_of_this_recording(tmp_path):
    made = recording(tmp_path)
    made.state.step, made.state.iteration = 4, 9
    counters = made.output.counters(final=False)
    assert (counters.steps, counters.iterations) == (4, 9)


def test_the_ring_sees_the_roots_that_the_state_knows(tmp_path):
    made = recording(tmp_path)
    root = torch.nn.Linear(1, 1)
    made.state.roots.add(root, None)
    assert made.ring.roots() == [root]


@pytest.mark.parametrize(("capture", "kept"), [("step", 12345), ("canary", 0)])
def test_older_states_are_kept_for_a_replay_alone(tmp_path, capture, kept):
    assert recording(tmp_path, capture=capture, ring_bytes=12345).ring.max_bytes == kept
