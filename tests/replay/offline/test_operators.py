from __future__ import annotations

import re
from pathlib import Path

import pytest

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import load_capsule, save_capsule
from debugtracer.replay.offline.offline import run_capsule
from tests.recorder.steps import facts, recorded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_capsule(tmp_path / "step", recorded("tied"), facts(), None)
    return tmp_path / "step"


@pytest.mark.parametrize(
    "name",
    [
        "aten::from_file.default",
        "aten::save.default",
        "prim::Print.default",
        "profiler::x.y",
        "mine::op.default",
        "aten::__class__.x",
        "aten",
        "",
    ],
)
def test_an_operator_that_is_not_torchs_own_is_refused_by_name(folder: Path, name: str) -> None:
    capsule = load_capsule(folder)
    capsule.program.names[2] = name
    with pytest.raises(CapsuleError, match=re.escape(f"the operator {name} of this capsule is not one of torch")):
        run_capsule(capsule)
