"""Keyword, flag and variable are one setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.settings import Capture, Mode, Settings


def test_settings_survive_the_way_through_the_environment():
    chosen = Settings(
        out=Path("/x"),
        name="a",
        mode=Mode.OBSERVE,
        capture=Capture.CANARY,
        run_dir=Path("/x/a"),
        flush_s=0.5,
        incidents=2,
        own_share=0.1,
    )
    assert Settings.from_env(chosen.to_env()) == chosen
    assert Settings.from_env(Settings().to_env()) == Settings()


def test_a_keyword_wins_over_a_variable():
    assert Settings.from_env({"DEBUG_TRACER_MODE": "prod", "DEBUG_TRACER_NAME": "a"}, mode="val").mode is Mode.VAL


@pytest.mark.parametrize(
    ("variable", "text", "says"),
    [
        ("DEBUG_TRACER_MODE", "fast", "DEBUG_TRACER_MODE is 'fast'; expected observe, dev, val, prod"),
        ("DEBUG_TRACER_INCIDENTS", "many", "DEBUG_TRACER_INCIDENTS is 'many'; expected int"),
        ("DEBUG_TRACER_FLUSH_S", "", "DEBUG_TRACER_FLUSH_S is ''; expected float"),
    ],
)
def test_a_wrong_variable_is_named_with_what_was_expected(variable, text, says):
    with pytest.raises(UsageError) as error:
        Settings.from_env({variable: text})
    assert str(error.value) == says


def test_an_unknown_keyword_names_the_known_ones():
    with pytest.raises(UsageError, match="no such setting: moed; known are out, name, mode"):
        Settings.from_env({}, moed="dev")


def test_other_variables_are_not_ours():
    assert Settings.from_env({"MODE": "x", "DEBUG_TRACER": "1", "DEBUG_TRACER_STRICT": "1"}) == Settings()
