"""Each stable form at the edge of its domain, and what it leaves alone."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from debugtracer.interventions import stable_forms as forms
from debugtracer.interventions.stable_forms import FORMS, away_from_zero, on_first

HALF = torch.ones(2)


def given(*args, **kwargs):
    """What a function was called with."""
    return args, kwargs


def named(name):
    """A function of that name which answers what it was called with."""

    def called(*args, **kwargs):
        return args, kwargs

    called.__name__ = name
    return called


def double(x):
    return x * 2


def test_the_first_floating_tensor_is_changed_wherever_it_stands():
    assert torch.equal(on_first(given, (HALF, 3), {"k": 1}, double)[0][0], HALF * 2)
    assert torch.equal(on_first(given, (), {"input": HALF}, double)[1]["input"], HALF * 2)
    assert torch.equal(on_first(given, (), {"self": HALF, "k": 1}, double)[1]["self"], HALF * 2)


def test_what_is_no_floating_tensor_is_handed_on():
    whole = torch.ones(2, dtype=torch.int64)
    assert on_first(given, (whole,), {}, double)[0][0] is whole
    assert on_first(given, (3, HALF), {}, double)[0] == (3, HALF)
    assert on_first(given, (), {"input": 3}, double) == ((), {"input": 3})


@pytest.mark.parametrize(
    ("divisor", "expected"), [(0, 1), (0.0, 1e-6), (3, 3), (2.5, 2.5), (None, None), ("x", "x"), (False, 1)]
)
def test_a_number_by_which_is_divided_is_never_zero(divisor, expected):
    assert away_from_zero(divisor, 1e-6) == expected


def test_a_tensor_by_which_is_divided_keeps_its_sign_and_its_distance():
    small = torch.tensor([0.0, 1e-7, -1e-7, -0.0, 1e-6, -2.0])
    expected = torch.tensor([1e-6, 1e-6, -1e-6, 1e-6, 1e-6, -2.0])
    assert torch.equal(away_from_zero(small, 1e-6), expected)
    assert away_from_zero(torch.tensor([0, 1, 3]), 1e-6).tolist() == [1, 1, 3]


@pytest.mark.parametrize("name", ["rtruediv", "__rdiv__", "rfloordiv", "__rmod__"])
def test_a_reflected_division_divides_by_its_first_argument(name):
    (first, second), _ = forms.divided(named(name), (0.0, 0.0), {}, 0.5)
    assert (first, second) == (0.5, 0.0)


def test_a_divisor_may_be_given_by_name():
    (first, second), _ = forms.divided(named("div"), (0.0, 0.0), {}, 0.5)
    assert (first, second) == (0.0, 0.5)
    args, kwargs = forms.divided(named("div"), (HALF,), {"other": 0.0}, 0.5)
    assert args[0] is HALF and kwargs == {"other": 0.5}
    assert forms.divided(named("div"), (), {"other": 0.0}, 0.5) == ((), {"other": 0.5})
    assert forms.divided(named("rdiv"), (), {"other": 0.0}, 0.5) == ((), {"other": 0.5})


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        (0.5, [0.25, 0.25, 0.25, 2.0]),
        (2, [-2.0, -0.0, 0.0, 2.0]),
        (0, [-2.0, -0.0, 0.0, 2.0]),
        (2.0, [-2.0, -0.0, 0.0, 2.0]),
        (-1, [-2.0, 0.25, 0.25, 2.0]),
        (torch.tensor(2.0), [0.25, 0.25, 0.25, 2.0]),
    ],
)
def test_only_a_power_that_needs_it_changes_its_base(power, expected):
    base = torch.tensor([-2.0, -0.0, 0.0, 2.0])
    assert forms.powered(named("pow"), (base, power), {}, 0.25)[0][0].tolist() == expected
    assert forms.powered(named("pow"), (base,), {"exponent": power}, 0.25)[0][0].tolist() == expected


def test_a_reflected_power_bounds_its_exponent():
    (bounded, _), _ = forms.powered(named("__rpow__"), (torch.tensor([1e5, 1.0]), 2), {}, 0.25)
    assert bounded.tolist() == pytest.approx([0.5 * math.log(torch.finfo(torch.float32).max), 1.0])


@pytest.mark.parametrize("form", ["sqrt", "log"])
def test_a_root_is_kept_from_zero_by_the_square(form):
    (x,), _ = FORMS[form].run(given, (torch.tensor([-1.0, 0.0, 1.0]),), {}, 0.1)
    assert x.tolist() == pytest.approx([0.01, 0.01, 1.0] if form == "sqrt" else [0.1, 0.1, 1.0])


def test_a_domain_that_ends_on_both_sides_is_kept_from_both():
    (x,), _ = FORMS["acos"].run(given, (torch.tensor([-2.0, 0.0, 2.0]),), {}, 0.25)
    assert x.tolist() == [-0.75, 0.0, 0.75]


def test_values_that_are_all_equal_are_moved_apart():
    (x,), _ = FORMS["std"].run(given, (torch.zeros(2, 2),), {}, 0.25)
    assert x.tolist() == [[-0.25, 0.25], [-0.25, 0.25]]


def test_only_a_row_without_a_score_becomes_uniform():
    scores = torch.tensor([[-math.inf, -math.inf], [1.0, -math.inf], [math.nan, math.inf]])
    limit = math.sqrt(torch.finfo(torch.float32).max)
    expected = [[0.0, 0.0], [1.0, -math.inf], [0.0, pytest.approx(limit)]]
    for args, kwargs in (((scores,), {}), ((scores, 1), {}), ((scores,), {"dim": 1})):
        assert FORMS["softmax"].run(given, args, kwargs, 0.1)[0][0].tolist() == expected
    (by_column, _), _ = FORMS["softmax"].run(given, (scores[:2], 0), {}, 0.1)
    assert by_column.tolist() == [[-math.inf, 0.0], [1.0, 0.0]]


BOOLEAN = torch.tensor([[False, False], [True, False]])
ADDED = torch.tensor([[-math.inf, -math.inf], [0.0, -math.inf]])


@pytest.mark.parametrize(
    ("mask", "expected"),
    [(BOOLEAN, [[True, True], [True, False]]), (ADDED, [[0.0, 0.0], [0.0, -math.inf]]), (None, None)],
)
def test_a_query_that_may_see_no_key_sees_all_of_them(mask, expected):
    def told(args, kwargs):
        found = FORMS["scaled_dot_product_attention"].run(given, args, kwargs, 0.1)
        value = found[0][3] if len(args) > 3 else found[1].get("attn_mask")
        return value.tolist() if isinstance(value, torch.Tensor) else value

    assert told((1, 2, 3, mask), {}) == expected and told((1, 2, 3), {"attn_mask": mask}) == expected


def test_masks_of_heads_hide_by_true():
    hidden = torch.tensor([[True, True], [True, False]])
    given_masks = {"key_padding_mask": hidden, "attn_mask": ADDED, "other": hidden, "need_weights": True}
    _, found = FORMS["multi_head_attention_forward"].run(given, (1,), given_masks, 0.1)
    assert found["key_padding_mask"].tolist() == [[False, False], [True, False]]
    assert found["attn_mask"].tolist() == [[0.0, 0.0], [0.0, -math.inf]]
    assert found["other"] is hidden and found["need_weights"] is True
    _, none = FORMS["multi_head_attention_forward"].run(given, (1,), {"attn_mask": None}, 0.1)
    assert none == {"attn_mask": None}


def test_a_ctc_loss_has_six_arguments_before_the_one_that_is_set():
    found = FORMS["ctc_loss"].run(given, (0, 1, 2, 3, 4, 5, False), {"zero_infinity": False}, 0.1)
    assert found == ((0, 1, 2, 3, 4, 5), {"zero_infinity": True})


def test_the_mean_of_nothing_is_zero_and_of_one_value_that_value():
    for args, kwargs in (((torch.ones(0),), {}), ((), {"input": torch.ones(0)})):
        assert FORMS["mean"].run(torch.mean, args, kwargs, 0.1).item() == 0.0
    assert FORMS["mean"].run(torch.mean, (torch.tensor([3.0]),), {}, 0.1).item() == 3.0
    assert FORMS["mean"].run(given, (3,), {}, 0.1) == ((3,), {})


LOGITS = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("logits", "target", "reduction", "expected"),
    [
        (LOGITS, [-100, -100], "mean", 0.0),
        (LOGITS, [0, -100], "mean", math.log(3)),
        (LOGITS, [0, 1], "sum", 2 * math.log(3)),
        (LOGITS * math.nan, [0, 1], "mean", math.nan),
    ],
)
def test_a_mean_over_no_target_is_zero(logits, target, reduction, expected):
    loss = FORMS["cross_entropy"].run(F.cross_entropy, (logits, torch.tensor(target)), {"reduction": reduction}, 0.1)
    assert loss.item() == pytest.approx(expected, nan_ok=True)


def test_a_loss_of_each_row_stays_one_of_each_row():
    target = torch.tensor([-100, -100])
    loss = FORMS["cross_entropy"].run(F.cross_entropy, (LOGITS, target), {"reduction": "none"}, 0.1)
    assert loss.tolist() == [0.0, 0.0]


def test_a_layer_norm_keeps_its_weights_and_gets_an_eps():
    x, weight, bias = torch.tensor([[1.0, 3.0]]), torch.tensor([2.0, 3.0]), torch.tensor([0.5, 0.25])
    expected = F.layer_norm(x, (2,), weight, bias, 0.5)
    run = FORMS["layer_norm"].run
    for args, kwargs in (
        ((x, (2,), weight, bias), {}),
        ((x, (2,)), {"weight": weight, "bias": bias}),
        ((x,), {"normalized_shape": (2,), "weight": weight, "bias": bias}),
    ):
        assert torch.equal(run(F.layer_norm, args, kwargs, 0.5), expected)
    assert torch.equal(run(F.layer_norm, (x, (2,)), {}, 0.0), F.layer_norm(x, (2,), eps=1e-5))
    half = run(F.layer_norm, (x.half(), (2,), weight.half(), bias.half()), {}, 0.5)
    assert half.dtype == torch.float16 and torch.allclose(half.float(), expected, atol=1e-2)


def test_another_norm_has_its_eps_raised_where_it_is_named():
    run = FORMS["group_norm"].run
    assert run(named("group_norm"), (HALF, 1), {"eps": 0.0}, 0.0) == ((HALF, 1), {"eps": 1e-5})
    assert run(named("group_norm"), (HALF, 1), {}, 0.0) == ((HALF, 1), {})
