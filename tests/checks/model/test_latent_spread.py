"""Is noise scaled by a standard deviation?"""

from __future__ import annotations

import pytest

from debugtracer.checks.model.latent_spread import LatentSpread
from debugtracer.trace.facts.latent_spread import LatentSpread as Spread
from tests.checks.facts_at import judged, line, ref


def looks(count: int = 2, **more: object) -> list[Spread]:
    given = {"raw": False, "shape": (50, 4), "frame": line(13), "product": line(14)} | more
    return [Spread(ref=ref(step), **given) for step in range(count)]  # type: ignore[arg-type]


def test_the_exponential_is_told_at_its_line():
    (finding,) = judged(LatentSpread(), looks(3))
    assert finding.message == (
        "step 0, rank 0: noise is multiplied (train.py:14) with exp(L) (train.py:13), of shape (50, 4), and the loss "
        "adds up L and exp(L), in 2 looks: a divergence where L is the logarithm of the variance; expected noise times "
        "exp(L / 2). Write torch.exp(0.5 * L)."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", line(13), line(14))


def test_a_logarithm_without_an_exponential_is_said_to_be_one():
    (finding,) = judged(LatentSpread(), looks(raw=True))
    assert "noise is multiplied (train.py:14) with L itself, of shape" in finding.message


def test_uniform_noise_is_told_at_its_draw():
    (finding,) = judged(LatentSpread(), looks(drawn="rand_like"))
    assert finding.message == (
        "step 0, rank 0: the noise that rand_like (train.py:13) draws is multiplied (train.py:14) with a standard "
        "deviation of shape (50, 4) whose divergence from a normal distribution is in the loss, in 2 looks: uniform "
        "noise has mean 0.5 and is never below 0; expected normal noise. Draw it with randn."
    )
    assert finding.place.frame == line(13)


@pytest.mark.parametrize("given", [looks(1), looks(1) * 3])
def test_one_look_is_no_proof(given):
    assert not judged(LatentSpread(), given, ended=True)
