"""Losses next to nothing in the first epoch."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.loss_too_good import LossTooGood
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.target_column import TargetColumn
from tests.spikes.series import findings, ref

LEAKED = [0.69 * 0.8**step + 1e-4 for step in range(300)]


def call(loss: str = "binary_cross_entropy_with_logits", first: float = LEAKED[0]) -> LossCall:
    return LossCall(ref=ref(0), loss=loss, frame=None, value=first)


def loader(length: int | None, **more: object) -> LoaderSeen:
    return LoaderSeen(
        **{
            "ref": ref(0), "loader": 0, "frame": None, "dataset": "Table", "length": length, "batch_size": 10,
            "workers": 0, "sampler": "RandomSampler", "trains": True, "shards": False, "shuffles": True,
            "generator": False, "worker_init": False, "persistent": False, "cores": 2, **more,
        }  # type: ignore[arg-type]
    )  # fmt: skip


def test_fires_early_in_the_first_epoch():
    (found,) = findings(LossTooGood(), LEAKED, [call(), loader(10_000)])
    assert (found.severity, found.kind, found.step) == ("warning", "label_leak", 63)
    assert "after 64 of 1000 batches of the first epoch, it began at " in found.message
    assert found.message.endswith(
        "expected above 0.001 before a sample is seen twice. Look for the target among the inputs."
    )


def test_a_column_that_lays_the_classes_apart_is_named_with_its_line():
    at = Frame("train.py", 10, "<module>", "refunded = ...")
    column = TargetColumn(
        ref=ref(3), column=12, columns=13, rows=32, looks=3, equal=False, path="batch[0]", frame=at, apart=True
    )
    (found,) = findings(LossTooGood(), LEAKED, [call(), loader(10_000), column])
    assert found.place.frame == at
    assert found.message.endswith(
        "Column 12 of 13 of batch[0] alone lays the classes apart in 3 batches of 32. Look at how it comes to know "
        "the target."
    )
    (found,) = findings(LossTooGood(), LEAKED, [call(), loader(10_000), msgspec.structs.replace(column, apart=False)])
    assert found.place.frame is None


def test_later_in_the_epoch_it_is_a_note():
    assert [f.severity for f in findings(LossTooGood(), LEAKED, [call(), loader(1_000)])] == ["note"]


def test_stays_silent_when_samples_were_seen_twice():
    assert not findings(LossTooGood(), LEAKED, [call(), loader(500)])


def test_stays_silent_where_the_size_or_the_loss_is_not_known():
    assert not findings(LossTooGood(), LEAKED, [call(), loader(None)])
    assert not findings(LossTooGood(), LEAKED, [call("mse_loss"), loader(10_000)])


def test_stays_silent_on_a_run_that_began_so_low():
    fine = [5e-4] * 200
    assert not findings(LossTooGood(), fine, [call(first=5e-4), loader(10_000)])


def test_a_loss_that_falls_below_zero_has_another_scale():
    assert findings(LossTooGood(), [0.69 * 0.8**step - 1e-3 for step in range(300)], [call(), loader(10_000)]) == []
