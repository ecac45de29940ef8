"""Builds what puts a saved state into the objects of a program that has just begun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.claim import current_rank
from debugtracer.recorder.output.last_good import verified
from debugtracer.recorder.resume.resumption import ResumeOptions, Resumption
from debugtracer.settings import Settings, Switch
from debugtracer.trace.store.saved_state import SavedState, usable


class Resuming:
    """Depends on the recording and on the replay."""

    def __init__(self, settings: Settings, folder: Path, recording: Recording, replaying: Replaying) -> None:
        options = ResumeOptions(
            str(folder.parent), settings.lr_scale, fresh_optimizer=settings.fresh_optimizer is Switch.ON
        )
        self.resumption = Resumption(
            recording.state,
            recording.passes,
            lambda: saved_state(folder, settings.resume_step),
            options,
            recording.output,
            replaying.hooks.disabled,
            replaying.dispatcher.missed,
        )
        recording.passes.add_listener(self.resumption)


def saved_state(folder: Path, step: int) -> dict[str, Any]:
    """The state of this rank at a step. Raises DebugTracerError."""
    rank, world_size = current_rank()
    states, problems = usable(folder)
    if states and len(states) != world_size:
        if all(state.sharded for known in states.values() for state in known):
            return dealt_anew(states, step, rank)
        raise DebugTracerError(
            f"{folder} holds the state of {ranks(len(states))} and {ranks(world_size)} train now, which share the data "
            f"in another way: start the program with {len(states)}, or load the state yourself"
        )
    found = next((state for state in states.get(rank, []) if state.step == step), None)
    if found is None:
        why = "; ".join(problems) or f"there are ranks {', '.join(map(str, sorted(states)))}"
        raise DebugTracerError(f"{folder} holds no whole state of rank {rank} at step {step}: {why}")
    return verified(found.path)


def dealt_anew(states: dict[int, list[SavedState]], step: int, rank: int) -> dict[str, Any]:
    """The sharded state that another number of ranks has written: whole tensors are those of the rank that this one
    would have been; generators and places in the data are of other shares. Raises DebugTracerError."""
    found = next((s for s in states[sorted(states)[rank % len(states)]] if s.step == step), None)
    if found is None:
        raise DebugTracerError(f"there is no whole state of step {step}")
    return verified(found.path) | {"generators": {}, "loaders": [], "dealt_by": len(states)}


def ranks(count: int) -> str:
    """A number of ranks in words."""
    return f"{count} rank{'s' if count != 1 else ''}"
