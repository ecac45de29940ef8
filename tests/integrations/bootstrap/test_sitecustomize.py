"""The file that is first on PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import debugtracer

BOOTSTRAP = Path(debugtracer.__file__).parent / "integrations" / "bootstrap"


def python(tmp_path, code: str, *path: str, **variables: str) -> str:
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(BOOTSTRAP), *path]),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=True
    ).stdout


WATCHED = (
    "import sys, torch; print('debugtracer.session' in sys.modules, [f for f in sys.meta_path if type(f).__name__ == "
    "'TorchWatcher'], 'exec_module' in vars(torch.__spec__.loader))"
)


def test_the_session_begins_with_torch_the_finder_is_gone_and_the_loader_of_torch_is_itself_again(tmp_path):
    assert python(tmp_path, WATCHED, DEBUG_TRACER="1") == "True [] False\n"


@pytest.mark.parametrize("value", ["0", ""])
def test_without_the_variable_the_import_of_torch_starts_nothing(tmp_path, value):
    (tmp_path / "torch.py").write_text("")  # whatever it is that a program imports by this name
    assert python(tmp_path, WATCHED, str(tmp_path), DEBUG_TRACER=value) == "False [] False\n"


def test_a_program_without_torch_loads_nothing_of_ours(tmp_path):
    code = "import sys; print([m for m in sys.modules if m.startswith('debugtracer')])"
    assert python(tmp_path, code, DEBUG_TRACER="1") == "[]\n"


def test_the_sitecustomize_behind_it_runs_under_its_own_name(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.said = __name__")
    assert python(tmp_path, "print(said)", str(tmp_path), DEBUG_TRACER="1") == "sitecustomize\n"
