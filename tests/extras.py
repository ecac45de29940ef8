"""What tests need of an optional package: where it is missing they are left out, but not where CI=true."""

from __future__ import annotations

import importlib
import os

import pytest


def needs(name: str) -> None:
    """Leave the test out where a package is missing; fail it in CI, where `scripts/setup.sh` has installed it."""
    try:
        importlib.import_module(name)
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is missing: scripts/setup.sh demo,test,docs")
        pytest.skip(f"{name} is missing: scripts/setup.sh demo,test,docs")
