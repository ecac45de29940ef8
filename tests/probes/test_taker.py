"""The contract of takers."""

from __future__ import annotations

import pytest

import debugtracer.probes
from debugtracer.plugins import members
from debugtracer.probes.desk import MOMENTS
from debugtracer.probes.taker import Taker

TAKERS = members(debugtracer.probes, Taker)


@pytest.mark.parametrize("slug", TAKERS)
def test_every_taker_listens_to_a_moment_that_exists(slug):
    kind = type(TAKERS[slug])
    assert any(getattr(kind, name) is not getattr(Taker, name) for name in [*MOMENTS, "install"])
    public = {name for name in vars(kind) if not name.startswith("_") and callable(vars(kind)[name])}
    assert all(vars(kind)[name].__doc__ for name in public)
