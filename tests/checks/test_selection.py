"""Which checks are asked with which options."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from debugtracer.checks import selection
from debugtracer.checks.check import Check, checks
from debugtracer.checks.selection import parsed, select, value_of, with_options
from debugtracer.errors import UsageError
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window


class Optioned(Check, frozen=True):
    """One with options."""

    z_max: float = 6.0  # robust z
    steps: int = 3  # steps
    names: tuple[str, ...] = ()
    strict: bool = False
    most: float | None = None

    def judge(self, window: Window) -> Iterator[Finding]:
        return iter(())


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(selection, "checks", lambda: {"optimizer/optioned": Optioned()})
    monkeypatch.setattr(selection, "find_check", lambda name: Optioned())
    monkeypatch.setattr(Optioned, "slug", "optimizer/optioned")


def test_without_words_every_check_has_its_defaults():
    assert select() == checks()


def test_a_single_option_stands_over_the_preset_and_the_preset_over_the_default(known, monkeypatch):
    monkeypatch.setitem(selection.PRESETS, "seed", {"optimizer/optioned": {"z_max": 3.0, "steps": 5, "gone": 1}})
    assert select("seed")["optimizer/optioned"] == Optioned(z_max=3.0, steps=5)
    assert select("seed", ["optioned.z_max=4"])["optimizer/optioned"] == Optioned(z_max=4.0, steps=5)


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("z_max", "8", 8.0),
        ("steps", "10", 10),
        ("names", "a, b", ("a", "b")),
        ("strict", "on", True),
        ("strict", "false", False),
        ("most", "1e4", 1e4),
    ],
)
def test_values_have_the_type_of_their_field(known, field, text, value):
    told = parsed(f"optioned.{field}={text}")
    assert told == ("optimizer/optioned", field, value)
    assert type(told[2]) is type(value)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("z_max=8", "expected CHECK.FIELD=VALUE, for example"), ("optioned.z_max", "expected CHECK.FIELD=VALUE"),
        ("optioned.=8", "expected CHECK.FIELD=VALUE"), (".z_max=8", "expected CHECK.FIELD=VALUE"),
        ("optioned.z=1", "has no option 'z'; it has z_max, "),
        ("optioned.steps=1.5", "'1.5' is no int"), ("optioned.strict=maybe", "'maybe' is no bool"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_one_sentence(known, word, told):
    with pytest.raises(UsageError, match=told):
        parsed(word)


def test_options_keep_the_slug_of_a_check_and_never_change_the_shared_one():
    check = checks()["numerics/nan-loss"]
    assert with_options(check, {"nothing": 1}) == check
    assert with_options(check, {}).slug == "numerics/nan-loss"
    assert all(one.__struct_config__.frozen for one in select("seed").values())


def test_value_of_names_the_word_it_refuses():
    with pytest.raises(UsageError, match=r"--option a\.b=x: 'x' is no float"):
        value_of("a.b=x", float, "x")


def test_a_count_below_one_is_one_sentence():
    with pytest.raises(
        UsageError,
        match=r"--option update-ratio.snapshots=-1: -1 is too small; expected 1 or more \(the default is 2\)",
    ):
        select("default", ["update-ratio.snapshots=-1"])
