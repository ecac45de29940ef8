"""What the options of a run become."""

from __future__ import annotations

import pytest

from debugtracer.commands._run_words import parsed
from debugtracer.commands._supervised import chosen, variables
from debugtracer.errors import UsageError
from debugtracer.settings import Settings


def given(*words):
    found = parsed(["run", *words, "t.py"])
    assert found is not None
    return found.options


def test_an_option_goes_before_its_variable(monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_COST", "0.5")
    assert chosen(given()).cost == 0.5
    assert chosen(given("--cost", "0.25")).cost == 0.25
    assert chosen(given()).out == Settings.out.absolute()


def test_a_wrong_word_is_refused():
    with pytest.raises(UsageError, match="there are default, seed"):
        chosen(given("--preset", "x"))


def test_folder_and_name_of_the_run_around_are_not_those_of_the_one_inside():
    inside = {"DEBUG_TRACER_RUN_DIR": "/r", "DEBUG_TRACER_NAME": "a", "X": "1"}
    assert variables(inside) == {"X": "1"}
    assert variables({"DEBUG_TRACER_NAME": "a"}) == {"DEBUG_TRACER_NAME": "a"}
