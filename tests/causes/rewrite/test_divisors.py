"""Divisors that are not 0."""

from __future__ import annotations

import pytest

from debugtracer.causes.rewrite.rewritten import rewritten


def guard(code: str, dtype: str = "float32") -> str | None:
    after = rewritten(code, "guard-divisor", op="div", dtype=dtype)
    return after[0] if after else None


def test_a_divisor_that_cannot_be_negative_is_clamped_and_another_gets_an_eps():
    assert guard("u = x / x.norm(dim=-1, keepdim=True)") == "u = x / x.norm(dim=-1, keepdim=True).clamp_min(1e-08)"
    assert guard("x.div_(x.std(1))") == "x.div_(x.std(1).clamp_min(1e-08))"
    assert guard("y = (x - mean) / sigma") == "y = (x - mean) / (sigma + 1e-08)"
    assert guard("y = x / (a - b)") == "y = x / (a - b + 1e-08)"
    assert guard("y = x / z ** 2") == "y = x / (z ** 2 + 1e-08)"


def test_a_count_is_at_least_1_as_a_tensor_and_as_a_number():
    assert guard("y = total / kept.sum(1)", "int64") == "y = total / kept.sum(1).clamp_min(1)"
    assert guard("y = total / len(rows)") == "y = total / max(len(rows), 1)"


def test_an_eps_fits_half_precision():
    assert guard("y = x / s", "float16") == "y = x / (s + 0.0001)"


@pytest.mark.parametrize("code", ["y = x / 2", "y = x * 3", "y = x / (a if b else c)"])
def test_a_line_without_a_divisor_that_can_be_0_stays(code):
    assert guard(code) is None
