"""The entry point that torch calls."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = (
    "import sys; from debugtracer.integrations.autoload import autoload; autoload(); print('debugtracer.session' in "
    "sys.modules)"
)


@pytest.mark.parametrize(("value", "watched"), [("1", True), ("0", False), ("", False)])
def test_only_the_variable_starts_a_session(tmp_path, value, watched):
    env = os.environ | {"DEBUG_TRACER": value, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == f"{watched}\n"
    assert list(tmp_path.iterdir()) == []
