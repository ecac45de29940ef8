"""Edges of torch functions, and how near values are to them."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.observers.numerics.domain_margin import distance_of, grain_of, margin_of

X = torch.tensor([0.25, 0.5])


@pytest.mark.parametrize(
    ("name", "args", "kind", "distance"),
    [
        ("log", (X,), "zero", 0.25),
        ("log1p", (X - 1,), "zero", 0.25),
        ("div", (1.0, -X), "zero", 0.25),
        ("__rdiv__", (X, 1.0), "zero", 0.25),
        ("rsqrt", (X,), "zero", 0.25),
        ("sqrt", (X,), "root", 0.25),
        ("pow", (X, 0.5), "root", 0.25),
        ("pow", (-X, -2), "zero", 0.25),
        ("acos", (-X,), "unit", 0.5),
        ("exp", (X,), "overflow", 88.7228 - 0.5),
    ],
)
def test_the_nearest_input(name, args, kind, distance):
    margin = margin_of(name, args)
    assert margin.kind == kind
    assert distance_of(margin) == pytest.approx(distance, rel=1e-5)


def test_calls_without_an_edge():
    assert margin_of("div", (X, 2.0)) is None
    assert margin_of("pow", (X, 2)) is None
    assert margin_of("log", (torch.arange(3),)) is None
    assert margin_of("sqrt", (torch.zeros(0),)) is None


def test_the_least_distance_depends_on_dtype_and_offset():
    assert grain_of(margin_of("log", (X,))) == torch.finfo(torch.float32).smallest_normal
    assert grain_of(margin_of("log", (X,)), offset=1.0) == 2.0**-24
    assert grain_of(margin_of("sqrt", (X.half(),))) == 2.0**-24
    assert grain_of(margin_of("acos", (X,))) == 2.0**-24
    assert math.isclose(float(distance_of(margin_of("exp", (X.half(),)))), 11.0898 - 0.5, rel_tol=1e-4)
