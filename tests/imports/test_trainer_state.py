"""The trainer_state.json of Hugging Face."""

from __future__ import annotations

import math

import pytest

from debugtracer.errors import TraceError
from debugtracer.imports.trainer_state import TrainerStateJson
from tests.imports.logs import trainer_state


def test_numbers_come_under_our_names_with_the_step_numbers_of_the_log(tmp_path):
    log = TrainerStateJson().read(trainer_state(tmp_path, [0.7, 0.6]))
    assert log.points[50] == {"loss": 0.7, "grad_l2": 1.0, "lr": 1e-3}
    assert log.points[100] == {"loss": 0.6, "grad_l2": 1.0, "lr": 1e-3, "val_loss": 0.7, "logged/eval_accuracy": 0.5}
    assert set(log.points) == {50, 100}


def test_not_a_number_survives(tmp_path):
    log = TrainerStateJson().read(trainer_state(tmp_path, [0.7, math.nan]))
    assert math.isnan(log.points[100]["loss"])
    assert math.isnan(log.points[100]["grad_l2"])


def test_an_output_folder_means_its_last_checkpoint(tmp_path):
    trainer_state(tmp_path / "checkpoint-900", [0.9])
    last = trainer_state(tmp_path / "checkpoint-1000", [0.5])
    assert TrainerStateJson().read(tmp_path).source == last


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is damaged"), ("[]", "has no log_history"), ('{"log_history": 3}', "has no log_history"),
        ("[" * 100_000, "is damaged"),
        ('{"log_history": [1, {"step": "x", "loss": 1}, {"loss": 2}, {"step": 1, "loss": "a"}]}',
            "holds no logged number"),
        ('{"log_history": [{"step": 1, "loss": 1' + "0" * 400 + "}]}", "holds no logged number"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path, text, told):
    (tmp_path / "trainer_state.json").write_text(text)
    with pytest.raises(TraceError, match=told):
        TrainerStateJson().read(tmp_path)
