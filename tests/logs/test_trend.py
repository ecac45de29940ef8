"""What the numbers alone speak for."""

from __future__ import annotations

import pytest

from debugtracer.logs.chunks import Chunk
from debugtracer.logs.judge import judge
from debugtracer.logs.scan import Scan


def kinds(*lines: str) -> list[str]:
    scan = Scan("here")
    scan.feed(Chunk(1, "\n".join(lines)))
    return [one.kind for one in judge(scan.finish()).candidates]


def losses(*values: object, more: str = "") -> list[str]:
    return [f"step {step} loss {value} {more}" for step, value in enumerate(values)]


def test_a_loss_that_grew_into_its_nan_is_a_learning_rate():
    assert kinds(*losses(0.5, 0.6, 1.2, 9.0, 300.0, "nan", "nan"))[:2] == ["lr_too_high", "exploding_gradients"]


def test_a_sudden_nan_is_first_of_all_a_sample():
    assert kinds(*losses(0.5, 0.4, 0.3, 0.31, 0.3, "nan", "nan"))[0] == "data_nonfinite"


def test_a_nan_that_passes_is_that_batch():
    assert kinds(*losses(0.5, 0.4, 0.3, 0.31, 0.3, "nan", 0.29, 0.28))[:2] == ["data_nonfinite", "labels_all_ignored"]


@pytest.mark.parametrize(("last", "told"), [(2.0**-12, True), (4096.0, False), (1.0, True)])
def test_a_scale_that_settles_high_is_a_search_and_no_collapse(last, told):
    scales = [65536.0 / 2**place for place in range(60) if 65536.0 / 2**place >= last]
    assert (
        "amp_scaler_collapse"
        in kinds(*(f"step {place} loss 0.7 loss_scale {scale}" for place, scale in enumerate(scales)))
    ) is told


def test_a_scale_that_was_always_1_is_switched_off():
    assert kinds(*losses(*[3 - 0.01 * step for step in range(60)], more="loss scale: 1.0")) == []


def test_a_falling_loss_is_healthy_and_a_short_one_is_not_judged():
    assert kinds(*losses(*[2.3 - 0.01 * step for step in range(100)])) == []
    assert kinds(*losses(0.7, 0.7, 0.7)) == []


def test_a_constant_loss_with_a_learning_rate_of_0_is_the_schedule():
    assert kinds(*losses(*[2.5] * 30, more="lr 0.0"))[0] == "scheduler_misuse"


def test_of_a_very_long_log_not_all_lines_are_read_and_the_nan_is_found():
    scan = Scan("here")
    lines = [f"step {step} loss {2 + 0.1 * (step % 7):.3f}" for step in range(60_000)] + ["step 60000 loss nan"]
    scan.feed(Chunk(1, "\n".join(lines)))
    curve = scan.finish().curves["loss"]
    assert curve.count < 50_000
    assert curve.first_bad is not None and curve.first_bad.step == 60_000
    assert [point.step for point in curve.before_bad[-3:]] == [59_997, 59_998, 59_999]
