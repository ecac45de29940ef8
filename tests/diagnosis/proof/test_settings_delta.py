"""Which setting changed between two updates."""

import torch

from debugtracer.diagnosis.proof.settings_delta import SettingDelta, deltas, numbers
from debugtracer.recorder.state.step_history import Snapshot, StepHistory
from debugtracer.recorder.tape.entry import Entry
from debugtracer.recorder.tape.step_tape import Segment


def a_past(*settings):
    segments = []
    for step, groups in enumerate(settings, 40):
        segment, entry = Segment(step), Entry("step", None, (), {}, ())
        segment.first_step, entry.settings = step, groups
        segment.entries.append(entry)
        segments.append(segment)
    return StepHistory(Snapshot(), segments)


def test_a_jump_of_the_rate_is_told_with_its_step():
    found = deltas(a_past([{"lr": 1e-3}], [{"lr": 1e-3}], [{"lr": 3e-2}]))
    assert found == [SettingDelta("lr", 1e-3, 3e-2, 42, 0)]
    assert found[0].times == 30
    assert found[0].description == "lr of group 0 went from 0.001 to 0.03 at step 42"


def test_the_small_steps_of_a_schedule_are_no_news():
    assert deltas(a_past(*([{"lr": 1e-3 * 0.95**n}] for n in range(10)))) == []


def test_each_group_is_compared_with_itself():
    found = deltas(a_past([{"lr": 1.0}, {"lr": 2.0}], [{"lr": 1.0}, {"lr": 1.0}]))
    assert [(d.group, d.before, d.after) for d in found] == [(1, 2.0, 1.0)]


def test_a_rate_that_was_zero_has_no_ratio():
    assert deltas(a_past([{"lr": 0.0}], [{"lr": 0.1}]))[0].times == 0.0


def test_settings_that_are_no_numbers_are_left_out():
    assert numbers({"lr": torch.tensor(0.5), "betas": (0.5, 0.75), "foreach": None, "amsgrad": False, "name": "x"}) == {
        "lr": 0.5,
        "betas[0]": 0.5,
        "betas[1]": 0.75,
    }


def test_a_schedule_that_compounds_is_told_as_a_whole():
    (found,) = deltas(a_past(*([{"lr": 0.1 * 1.1**n}] for n in range(10))))
    assert (found.since, found.step) == (40, 49)
    assert found.description == "lr of group 0 went from 0.1 to 0.235795 between steps 40 and 49"
