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


def changes(*rates):
    return [(d.before, d.after, d.step, d.since) for d in deltas(a_past(*([{"lr": rate}] for rate in rates)))]


def test_more_than_a_fifth_up_or_down_is_told():
    assert changes(5.0, 6.0) == []
    assert changes(5.0, 6.01) == [(5.0, 6.01, 41, None)]
    assert changes(6.0, 5.01) == []
    assert changes(6.0, 4.99) == [(6.0, 4.99, 41, None)]
    assert changes(0.0, 0.0) == []
    assert changes(0.0, 0.1) == [(0.0, 0.1, 41, None)]


def test_half_as_much_again_in_small_steps_is_told_and_no_less_and_no_fall():
    assert changes(1.0, 1.15, 1.32, 1.5) == [(1.0, 1.5, 43, 40)]
    assert changes(1.0, 1.15, 1.32, 1.49) == []
    assert changes(1.5, 1.32, 1.15, 1.0) == []
    assert changes(1.0, 2.0, 2.2) == [(1.0, 2.0, 41, None)]  # told once


def test_each_optimizer_of_a_step_is_compared_with_itself():
    past = a_past([{"lr": 1.0}], [{"lr": 1.0}])
    for segment in past.segments:
        other = Entry("step", None, (), {}, ())
        other.settings = [{"lr": 5.0}]
        segment.entries.append(other)
        segment.entries.insert(0, Entry("backward", None, (), {}, ()))
    assert deltas(past) == []
    past.segments[1].entries[-1].settings = [{"lr": 50.0}]
    assert [(d.before, d.after) for d in deltas(past)] == [(5.0, 50.0)]


def test_a_tensor_of_several_numbers_is_no_setting():
    assert numbers({"lr": torch.ones(2), "betas": [torch.tensor(0.5), True, None]}) == {"betas[0]": 0.5}
