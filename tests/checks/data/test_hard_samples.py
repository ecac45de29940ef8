"""A loss that jumps in the batches that are unlike the others."""

from __future__ import annotations

import math

import msgspec
import pytest

from debugtracer.checks.data.hard_samples import HardSamples
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import ElementOdd
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.facts.fact import Fact
from tests.checks.data.batches import LOADER, an_oddity, judged
from tests.checks.facts_at import ref

HEALTHY = [2.0 * math.exp(-n / 100) * (1 + 0.02 * math.sin(7.0 * n)) for n in range(80)]


def content(step, **more):
    known = {
        "value": 7.14,
        "usual": 0.03,
        "spread": 0.06,
        "detail": "token histogram",
        "samples": (16 * step, 16 * step + 1),
    }
    return [an_oddity("content", step, **{**known, **more})]


def run(odd: dict[int, list[Fact]], high: dict[int, float], steps: int = 80):
    return judged(
        HardSamples(), [odd.get(n, []) for n in range(steps)], [high.get(n, HEALTHY[n]) for n in range(steps)]
    )


def test_a_record_that_is_kept_in_another_dtype_is_told_with_the_line_that_scales_it():
    at = Frame("/p/frames.py", 32)
    odd = content(60, detail="std", form="sample 960 is kept as uint16, 6 others as uint8", made=(at,))
    (finding,) = run({60: odd}, {60: 70.0})
    assert finding.message.endswith(
        "sample 960 is kept as uint16, 6 others as uint8; expected each scaled by its own range. Scale it by the range "
        "of its dtype."
    )
    assert (finding.place.frame, finding.remedy[0][:34]) == (at, "scale each record by the range of ")


def test_a_jump_in_unlike_batches_is_named_with_first_step_and_all_samples():
    (finding,) = run({60: content(60), 61: content(61)}, {60: 7.0, 61: 6.0})
    assert finding.message == (
        "step 60, rank 0: the loss rises to 7 (expected 1.081) in 2 steps whose batches are unlike all before: token "
        "histogram of batch[0] 7.14 nats from the learnt one, usual are 0.03 (samples 960, 961, 976, 977); expected "
        "samples like the others. Filter or shuffle that part of the data."
    )
    assert (finding.severity, finding.kind, finding.step, finding.place.sample_index) == (
        "warning",
        "data_hard_samples",
        60,
        (960, 961, 976, 977),
    )
    assert finding.place.frame == LOADER.made_at


def test_a_task_that_begins_with_weights_that_were_loaded_is_a_note():
    loaded = Resumed(ref=ref(60), in_place=True)
    (finding,) = run({60: [loaded, *content(60)], 61: content(61)}, {60: 7.0, 61: 6.0})
    assert finding.severity == "note"
    before = Resumed(ref=ref(40), in_place=True)
    (finding,) = run({40: [before], 60: content(60), 61: content(61)}, {60: 7.0, 61: 6.0})
    assert finding.severity == "warning"


def test_only_the_rows_beyond_the_range_are_guilty():
    fact = an_oddity("range", 60, value=1e4, usual=1.0, spread=1.0, rows=(8,), samples=(968,))
    (finding,) = run({60: [*content(60), fact]}, {60: 7.0})
    assert (finding.place.sample_index, finding.place.batch_rows) == ((968,), (8,))
    assert finding.message == (
        "step 60, rank 0: the loss rises to 7 (expected 1.081) in one step whose batch is unlike all before: batch[0] "
        "reaches 1e+04, usual is up to 1 (sample 968); expected samples like the others. Filter or shuffle that part "
        "of the data."
    )


def test_a_run_that_ends_in_unlike_batches_is_told_at_the_end():
    (finding,) = run({79: content(79)}, {79: 7.0})
    assert finding.step == 79


def test_a_jump_without_a_difference_in_content_is_silent():
    assert not run({}, {60: 7.0, 61: 6.0})


def test_unlike_batches_that_the_model_can_do_are_silent():
    assert not run({60: content(60), 61: content(61)}, {})


def test_a_jump_two_steps_after_the_unlike_batch_is_not_its_fault():
    assert not run({58: content(58)}, {60: 7.0})


def test_a_new_data_set_is_not_a_spike():
    odd = {n: content(n) for n in range(60, 68)}
    assert not run(odd, dict.fromkeys(range(60, 80), 5.0))
    assert not run(odd, {60: 5.0, 61: 3.0})  # learnt quickly, and still unlike: the data has moved


def test_a_validation_batch_is_not_behind_the_training_loss():
    assert not run({60: content(60, training=False)}, {60: 7.0})


def test_before_anything_is_known_nothing_is_said():
    assert not run({10: content(10)}, {10: 7.0}, steps=30)


def test_one_batch_out_of_a_heavy_tail_is_a_note():
    noisy = {n: HEALTHY[n] * (1 + 0.1 * math.sin(7.0 * n)) for n in range(80)}
    (finding,) = run({60: content(60)}, {**noisy, 60: 3.1})
    assert finding.severity == "note"
    (finding,) = run({60: content(60)}, {**noisy, 60: 20.0})
    assert finding.severity == "warning"
    (finding,) = run({60: content(60)}, {**noisy, 50: 12.0, 60: 20.0})  # it jumps as far without unlike batches
    assert finding.severity == "note"
    (finding,) = run({60: content(60), 61: content(61)}, {**noisy, 60: 3.1, 61: 3.1})
    assert finding.severity == "warning"


@pytest.mark.parametrize(("times", "severity"), [(98.0, "note"), (102.0, "warning")])
def test_a_loss_a_hundred_times_the_expected_one_is_no_tail(times: float, severity: str):
    wide = {n: HEALTHY[n] * (0.3 if n % 3 else 3.0) for n in range(80)}
    (plain,) = run({60: content(60)}, {**wide, 60: 400.0})
    level = float(plain.evidence["expected"])
    (finding,) = run({60: content(60)}, {**wide, 60: times * level})
    assert finding.severity == severity


def test_seven_unlike_batches_in_a_row_are_a_spike_and_eight_a_new_data_set():
    for many, told in ((7, 1), (8, 0)):
        steps = range(60, 60 + many)
        assert len(run({n: content(n) for n in steps}, dict.fromkeys(steps, 7.0))) == told


def test_the_line_is_that_of_the_odd_value_else_that_of_the_dataset_else_of_the_loader():
    made, plain = (Frame("/p/train.py", 9),), msgspec.structs.replace(LOADER, made_at=None)
    known = {"value": 1e4, "usual": 1.0, "spread": 1.0, "samples": None}
    for kind, more, frame in (
        ("range", {"made": made}, made[0]),
        ("range", {}, LOADER.made_at),
        ("content", {"made": made}, made[0]),
        ("content", {"loader": plain}, LOADER.frame),
    ):
        (finding,) = run({60: [an_oddity(kind, 60, **{**known, **more})]}, {60: 7.0})
        assert (finding.place.frame, finding.place.sample_index) == (frame, None)


def test_the_element_its_value_and_its_line_are_told_of_one_batch():
    line = Frame("/p/visits.csv", 1264, "", "u4,66338,4.0")
    one = ElementOdd(row=3, place=(1,), value=66338.0, low=0.0, high=22.0, record=line)
    (finding,) = run({60: content(60, samples=(1262,), element=one)}, {60: 70.0})
    assert finding.message.endswith(
        "(sample 1262: element 1 is 66338 (visits.csv:1264: `u4,66338,4.0`), the other rows of the batch have 0 to "
        "22); expected samples like the others. Mend that record; or, if such counts are right, take log(1 + x) of "
        "them."
    )
    plain = ElementOdd(row=3, place=(), value=-999.5, low=0.25, high=2.5)
    (finding,) = run({60: content(60, samples=(1262,), element=plain)}, {60: 70.0})
    assert finding.message.endswith(
        "(sample 1262: it is -999.5, the other rows of the batch have 0.25 to 2.5); expected samples like the others. "
        "Filter or shuffle that part of the data."
    )
