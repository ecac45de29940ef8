"""A snapshot as columns says what the snapshot says, also of what is not finite and what was not measured."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.layer_columns import LayerColumns, columns_of, from_batch, same_each_time, to_batch
from tests.trace.facts.test_health import a_row

UPDATE = ParamDynamics(
    name="fc.weight", numel=6, dtype="float32", optimizer="Adam", lr=0.1, weight_l2=2.0, update_l2=0.002
)


def a_snapshot(step: int = 3, **more: object) -> Health:
    rows = (
        a_row("fc.weight", l2=2.0),
        a_row("fc.weight", role="gradient", l2="NaN", bad=6, sampled=6),
        a_row("层<b>", role="activation", l2="Infinity", dead_units=0.5, function="relu"),
    )
    return Health(ref=StepRef(iteration=step, step=step), tensors=rows, params=(UPDATE,), **more)  # type: ignore[arg-type]


def there_and_back(fact: Health) -> LayerColumns:
    return from_batch(pa.record_batch(to_batch(columns_of(fact), {})), None)


@pytest.mark.parametrize("of", [columns_of, there_and_back])
def test_every_number_stands_in_the_row_of_its_tensor(of) -> None:
    taken = of(a_snapshot())
    assert (taken.step, len(taken)) == (3, 3)
    assert taken.names["layer"].texts() == ["fc.weight", "fc.weight", "层<b>"]
    assert taken.names["role"].texts() == ["weight", "gradient", "activation"]
    assert taken.names["function"].texts() == ["", "", "relu"]
    assert taken.counts["bad"].tolist() == [0, 6, 0]
    l2 = taken.floats["l2"].tolist()
    assert l2[0] == 2.0 and math.isnan(l2[1]) and l2[2] == math.inf
    assert taken.floats["update_l2"][0] == pytest.approx(0.002)
    assert taken.known["update_l2"].tolist() == [True, False, False]
    assert taken.known["dead_units"].tolist() == [False, False, True]
    assert taken.known["l2"].all()


def test_a_finite_number_beyond_float32_does_not_become_infinite() -> None:
    fact = Health(ref=StepRef(iteration=0, step=0), tensors=(a_row("w", l2=1e300),))
    assert math.isfinite(columns_of(fact).floats["l2"][0])


def test_what_is_the_same_as_in_the_row_before_is_written_once() -> None:
    first, second = columns_of(a_snapshot(3)), columns_of(a_snapshot(4))
    row = pa.record_batch(to_batch(second, same_each_time(first)))
    assert row.column("layer")[0].as_py() is None and row.column("sampled")[0].as_py() is None
    read = from_batch(row, first)
    assert (read.step, read.names["layer"].texts(), read.counts["bad"].tolist()) == (
        4, second.names["layer"].texts(), [0, 6, 0]
    )  # fmt: skip


def test_columns_that_do_not_belong_together_are_refused() -> None:
    row = pa.record_batch(to_batch(columns_of(a_snapshot(3)), same_each_time(columns_of(a_snapshot(3)))))
    fewer = columns_of(Health(ref=StepRef(iteration=0, step=0), tensors=(a_row("w"),)))
    for before in (None, fewer):
        with pytest.raises(ValueError, match="do not belong together"):
            from_batch(row, before)
