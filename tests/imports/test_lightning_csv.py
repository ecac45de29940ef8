"""The metrics.csv of Lightning and other tables."""

from __future__ import annotations

import math

import pytest

from debugtracer.errors import TraceError
from debugtracer.imports.lightning_csv import LightningCsv
from tests.imports.logs import lightning_csv


def test_numbers_come_under_our_names_with_the_step_numbers_of_the_log(tmp_path):
    log = LightningCsv().read(lightning_csv(tmp_path, [0.7, 0.6]))
    assert log.points == {
        49: {"loss": 0.7, "lr": 1e-3},
        99: {"loss": 0.6, "lr": 1e-3, "val_loss": 0.9, "logged/val_acc": 0.25},
    }


def test_a_folder_of_versions_means_its_last_one(tmp_path):
    for _ in range(11):
        last = lightning_csv(tmp_path, [0.5])
    assert last.name == "version_10"
    assert LightningCsv().read(tmp_path / "lightning_logs").source == last / "metrics.csv"
    assert LightningCsv().read(tmp_path).source == last / "metrics.csv"


def test_any_table_that_counts_is_read_and_words_are_left_out(tmp_path):
    (tmp_path / "log.csv").write_text("epoch,Loss,note,acc\n0,2.5,warm,\n1,nan,,0.5\nx,1,,\n")
    points = LightningCsv().read(tmp_path / "log.csv").points
    assert points[0] == {"loss": 2.5}
    assert math.isnan(points[1]["loss"])
    assert points[1]["logged/acc"] == 0.5
    assert set(points) == {0, 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"a,b\n1,2\n",
            "has no column that counts steps; expected one named step, global_step, iteration, iter or epoch"),
        (b"", "has no column"), (b"step,loss\n", "holds no logged number"),
        (b"\xff\xfe\x00step", "is no CSV file|has no column"),
        (b"step,loss\nnan,1\n1e300,2\n", "holds no logged number"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(tmp_path, text, told):
    (tmp_path / "metrics.csv").write_bytes(text)
    with pytest.raises(TraceError, match=told):
        LightningCsv().read(tmp_path)
