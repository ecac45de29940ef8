"""A trace is judged and shown where torch is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = """
import sys
sys.modules["torch"] = None
import importlib, pkgutil
package = importlib.import_module("{room}")
for info in pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + "."):
    importlib.import_module(info.name)
"""


@pytest.mark.parametrize(
    "room",
    [
        "trace",
        "checks",
        "spikes",
        "causes",
        "views",
        "server",
        "telemetry",
        "notify",
        "exports",
        "imports",
        "source",
        "tokenizer",
        "testing",
        "errors",
        "settings",
        "plugins",
    ],
)
def test_a_room_imports_without_torch(room: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(room=f"debugtracer.{room}")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_package_itself_loads_no_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, debugtracer; sys.exit('torch' in sys.modules)"], check=False
    )
    assert done.returncode == 0


def test_the_block_does_block_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED.format(room="debugtracer.replay")], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
