"""The maps hold the norms of each tensor at each inspected step; long runs are thinned, not cut."""

from __future__ import annotations

import base64
import math
from array import array
from pathlib import Path

import numpy as np
import pytest

from debugtracer.testing import a_trace
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.layer_columns import columns_of
from debugtracer.trace.store.norm_log import NormLog
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.page.layers_panel import BAD, GREATEST, LEAST, MISSING, ZERO, layers_panel, leveled, thinned
from tests.trace.facts.test_health import a_row
from tests.trace.facts.test_layer_norms import some_norms
from tests.views.test_layers import snapshot


def value(word: int) -> float:
    return 10 ** (LEAST + (word - 2) / (BAD - 3) * (GREATEST - LEAST))


def words(packed: str) -> list[int]:
    found = array("H")
    found.frombytes(base64.b64decode(packed))
    return list(found)


@pytest.mark.parametrize("known", [1e-29, 3.7e-8, 0.5, 1.0, 65504.0, 1e38])
def test_a_level_is_exact_to_a_quarter_of_a_percent(known: float) -> None:
    assert value(int(leveled(np.array([known]), np.array([True]))[0])) == pytest.approx(known, rel=0.0025)


def test_what_is_no_number_has_a_word_of_its_own() -> None:
    values, known = np.array([5.0, 0.0, math.nan, math.inf, -1.0]), np.array([False, True, True, True, True])
    assert leveled(values, known).tolist() == [MISSING, ZERO, BAD, BAD, ZERO]


def test_maps_have_a_row_a_tensor_and_a_column_a_snapshot(tmp_path: Path) -> None:
    update = ParamDynamics(
        name="fc.weight", numel=6, dtype="float32", optimizer="Adam", lr=0.1, weight_l2=2.0, update_l2=0.002
    )
    late = a_row("relu", role="activation", l2=0.25)
    run = a_trace(
        tmp_path,
        snapshot(0, a_row("fc.weight", l2=2.0), params=(update,)),
        snapshot(9, a_row("fc.weight", l2="NaN", bad=6, sampled=6), late),
    )
    panel = layers_panel(open_trace(run), 0, 9)
    maps = {one["name"]: one for one in panel["maps"]}
    assert panel["steps"] == [0, 9]
    assert set(maps) == {"weight", "update", "activation", "dead"}
    first, second = words(maps["weight"]["levels"])
    assert value(first) == pytest.approx(2.0, rel=0.0025)
    assert second == BAD
    assert list(base64.b64decode(maps["weight"]["bad"])) == [0, 255]
    assert value(words(maps["update"]["levels"])[0]) == pytest.approx(0.001, rel=0.0025)
    assert (maps["activation"]["rows"], words(maps["activation"]["levels"])[0]) == (["relu"], MISSING)


def test_a_long_run_is_thinned_evenly_but_whole_at_the_focus() -> None:
    taken = [columns_of(Health(ref=StepRef(iteration=s, step=s), tensors=())) for s in range(0, 100_000, 100)]
    steps = [one.step for one in thinned(taken, 50, 40_000)]
    assert len(steps) <= 60
    assert (steps[0], steps[-1]) == (0, 99_900)
    assert {39_900, 40_000, 40_100} <= set(steps)


def test_a_run_without_snapshots_has_no_maps(tmp_path: Path) -> None:
    assert layers_panel(open_trace(a_trace(tmp_path)), 0, None) == {"steps": [], "maps": []}


def test_norms_between_the_snapshots_are_columns_of_gradients_and_weights_alone(tmp_path: Path) -> None:
    run = a_trace(
        tmp_path,
        snapshot(0, a_row("fc.weight", l2=2.0), a_row("relu", role="activation", l2=0.25)),
        snapshot(4, a_row("fc.weight", l2=2.5)),
    )
    log = NormLog(run / "rank=0")
    log.append(some_norms(0, 1, 2, 3, role="weight", names=("fc.weight",)))
    log.append(some_norms(3, names=("fc.weight",)))
    log.close()
    panel = layers_panel(open_trace(run), 0, 3)
    maps = {one["name"]: one for one in panel["maps"]}
    assert panel["steps"] == [0, 1, 2, 3, 4]
    assert [round(value(word), 1) for word in words(maps["weight"]["levels"])] == [2.0, 1.0, 2.0, 3.0, 2.5]
    assert "at" not in maps["weight"]
    assert (maps["gradient"]["at"], len(words(maps["gradient"]["levels"]))) == ([0, 3, 4], 3)
    assert maps["activation"]["at"] == [0, 4]
    assert maps["weight"]["shapes"] == ["2x3 float32"]


def test_of_very_many_steps_with_norms_an_even_choice_and_those_at_the_focus_are_shown(tmp_path: Path) -> None:
    run = a_trace(tmp_path)
    log = NormLog(run / "rank=0")
    names = tuple(f"layers.{n}.weight" for n in range(500))
    log.append(some_norms(*range(2000), role="weight", names=names))
    log.close()
    panel = layers_panel(open_trace(run), 0, 1500)
    assert len(panel["steps"]) < 500
    assert {0, 1999, *range(1500 - 32, 1500 + 33)} <= set(panel["steps"])
    assert panel["thinned"] == 2000 - len(panel["steps"])
