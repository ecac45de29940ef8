"""The contract of causes."""

from __future__ import annotations

import pytest

from debugtracer.causes.cause import causes
from debugtracer.causes.reading import Reading
from debugtracer.testing import a_birth, some_facts
from debugtracer.trace.finding import LAYERS


@pytest.mark.parametrize("slug", causes())
def test_every_cause_has_a_class_word_and_a_layer(slug):
    cause = causes()[slug]
    assert cause.slug == slug
    assert cause.kind.replace("_", "").isalnum()
    assert cause.kind == cause.kind.lower()
    assert cause.kind != "healthy"
    assert cause.layer in LAYERS


@pytest.mark.parametrize("slug", causes())
@pytest.mark.parametrize("direction", ["forward", "backward", "update", "input"])
@pytest.mark.parametrize("kind", ["overflow", "domain", "inf-inf", "0/0", "0*inf", "uninitialised", "input"])
def test_no_cause_stumbles_over_a_birth_without_tensors_or_frames(slug, direction, kind):
    birth = a_birth(None if kind == "input" else "aten::div", direction=direction, kind=kind)
    signs = causes()[slug].signs(Reading(some_facts(birth, loader=None, optimizer=None, replay=None, recent={})))
    assert signs is None or (0 < signs.confidence <= 1 and signs.because and signs.remedies)
    assert signs is None or "; " not in signs.because  # the summary is cut there
