"""The contract: slugs, names, values, and what is said of a wrong one."""

from __future__ import annotations

import pytest

from debugtracer.errors import ReplayRefused, UsageError
from debugtracer.interventions.intervention import NARROW, asked, interventions


def test_names_carry_the_value_where_one_is_taken():
    known = interventions()
    assert known["lower-lr"].name == "lower-lr=10"
    assert asked("lower-lr=2").name == "lower-lr=2"
    assert asked("larger_eps=1e-6").name == "larger-eps=1e-06"
    assert known["other-batch"].name == "other-batch"
    assert asked("other-batch") is known["other-batch"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nonsense", "--with nonsense: no intervention is called nonsense; known are "),
        ("other-batch=3", "--with other-batch=3: other-batch takes no value"),
        (
            "lower-lr=fast",
            "--with lower-lr=fast: 'fast' is no number; expected what the learning rate is divided by, such as 10",
        ),
    ],
)
def test_a_word_that_is_not_understood_says_what_is(word, said):
    with pytest.raises(UsageError) as error:
        asked(word)
    assert str(error.value).startswith(said)


def test_the_narrowest_is_an_op_and_the_broadest_the_loop():
    scopes = {slug: NARROW.index(type(i).scope) for slug, i in interventions().items()}
    assert scopes["stable-op"] < scopes["full-precision"] < scopes["without-sample"] < scopes["other-batch"]
    assert scopes["other-batch"] < scopes["fresh-moments"] <= scopes["lower-lr"] < scopes["older-weights"]


def test_offline_a_form_that_is_missing_says_why():
    with pytest.raises(ReplayRefused, match="it needs the live step; a capsule holds the operators of one step"):
        interventions()["bypass-module"].offline(None)  # type: ignore[arg-type]
