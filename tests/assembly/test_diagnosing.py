"""What judges a step: who may hold it back, what the settings say of incidents, and the order of the hooks."""

from __future__ import annotations

import pytest

from debugtracer.assembly.diagnosing import Diagnosing, incident_options
from debugtracer.assembly.recording import Recording
from debugtracer.assembly.replaying import Replaying
from debugtracer.diagnosis.late_consensus import LateConsensus
from debugtracer.recorder.listeners import NoPolicy, OneRank
from debugtracer.settings import Settings


def built(out, **more: object) -> tuple[Replaying, Diagnosing]:
    settings = Settings.from_env({}, out=out, **more)
    recording = Recording(settings)
    replaying = Replaying(settings, recording)
    return replaying, Diagnosing(settings, recording, replaying)


def names(replaying: Replaying) -> list[str]:
    return [type(hook).__name__ for hook in replaying.hooks.hooks]


def test_incidents_hold_steps_back_in_mode_dev(tmp_path):
    _, diagnosing = built(tmp_path, mode="dev")
    assert diagnosing.gate.policy is diagnosing.events.working.policy is diagnosing.incidents
    assert diagnosing.health_gate.ranks is diagnosing.incidents


@pytest.mark.parametrize(
    "more", [{"mode": "observe"}, {"mode": "prod", "capture": "canary"}, {"mode": "dev", "capture": "canary"}]
)
def test_elsewhere_the_loop_goes_on_as_it_would(tmp_path, more):
    _, diagnosing = built(tmp_path, **more)
    assert isinstance(diagnosing.gate.policy, NoPolicy) and diagnosing.events.working.policy is diagnosing.gate.policy
    assert isinstance(diagnosing.health_gate.ranks, LateConsensus if more.get("capture") is None else OneRank)


def test_the_function_mode_lies_on_top_and_is_not_there_without_a_tape(tmp_path):
    step, canary = (names(built(tmp_path, capture=capture)[0]) for capture in ("step", "canary"))
    assert step == [*canary, "FreeCallMode"]
    assert canary[:3] == ["LoaderHook", "BackwardHook", "OptimizerHook"]
    assert len(set(step)) == len(step) == 14


def test_the_settings_say_how_incidents_are_opened(tmp_path):
    options = incident_options(
        Settings.from_env({}, mode="dev", incidents=2, trials=3, trials_s=4.0, preset="seed", copy_bytes=5)
    )
    assert (options.stops, options.most, options.preset, options.state_bytes) == (True, 2, "seed", 5)
    assert (options.budget.trials, options.budget.seconds) == (3, 4.0)
    assert incident_options(Settings.from_env({}, capture="step")).capsule_bytes > 0
    assert incident_options(Settings.from_env({}, capture="canary")).capsule_bytes == 0
