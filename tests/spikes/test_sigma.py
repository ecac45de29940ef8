"""The rule of articles: three standard deviations (docs/rationale/checks.md#article-sigma)."""

from __future__ import annotations

from debugtracer.spikes.sigma import WIDTH, Sigma
from tests.spikes.series import falling


def test_it_is_silent_until_it_has_its_window():
    sigma = Sigma()
    assert [sigma.push(v) for v in falling(WIDTH - 1)] == [0.0] * (WIDTH - 1)


def test_one_value_far_above_is_many_deviations_away():
    sigma = Sigma()
    for step in range(WIDTH):
        sigma.push(1.0 + 0.01 * (-1) ** step)
    assert sigma.push(2.0) > 9


def test_a_constant_series_has_no_distance():
    sigma = Sigma()
    assert [sigma.push(1.0) for _ in range(2 * WIDTH)] == [0.0] * (2 * WIDTH)
