from __future__ import annotations

from pathlib import Path

import torch

from debugtracer.recorder.capsule.capsule import load_capsule, save_capsule
from debugtracer.replay.offline.offline import run_capsule
from tests.recorder.steps import facts, recorded


def test_a_workspace_that_depends_on_the_dtype_keeps_its_kernel_in_the_recorded_one(tmp_path: Path) -> None:
    save_capsule(tmp_path / "step", recorded("recurrent"), facts(), None)
    result = run_capsule(load_capsule(tmp_path / "step"), dtype="bfloat16")
    assert result.targets["loss"].dtype == torch.bfloat16
    assert result.as_recorded == {"aten.mkldnn_rnn_layer.default", "aten.mkldnn_rnn_layer_backward.default"}
    assert max(gap for gap in result.distance.values() if gap is not None) < 0.1


def test_a_kernel_that_exists_in_no_other_dtype_runs_in_its_own(tmp_path: Path) -> None:
    save_capsule(tmp_path / "step", recorded("scaled"), facts(), None)
    result = run_capsule(load_capsule(tmp_path / "step"), dtype="float64")
    assert result.as_recorded == {"aten._amp_foreach_non_finite_check_and_unscale_.default"} | (
        {"aten._amp_update_scale_.default"} & result.as_recorded
    )
    assert result.targets["updated weight"].dtype == torch.float64
    assert 0 < max(gap for gap in result.distance.values() if gap is not None) < 1e-2
