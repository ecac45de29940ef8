"""A page says that it is open in the folder of a run that would obey it, and in no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.server.presence import Presence
from debugtracer.trace.store.schema import ATTENDED

OBEYS = {"status": "running", "mode": "prod", "ranks": 1}


def test_a_run_that_trains_is_told(tmp_path: Path) -> None:
    Presence(tmp_path).say(OBEYS)
    assert (tmp_path / ATTENDED).stat().st_size == 0


@pytest.mark.parametrize("changed", [{"status": "ended"}, {"mode": "observe"}, {"ranks": 2}])
def test_one_that_would_not_obey_is_left_as_it_is(tmp_path: Path, changed: dict[str, object]) -> None:
    Presence(tmp_path).say({**OBEYS, **changed})
    assert not (tmp_path / ATTENDED).exists()


def test_a_link_is_not_followed_and_a_folder_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / ATTENDED).symlink_to(elsewhere)
    Presence(tmp_path).say(OBEYS)
    assert not elsewhere.exists()
    Presence(tmp_path / "gone").say(OBEYS)


def test_it_is_said_every_ten_seconds(tmp_path: Path) -> None:
    presence = Presence(tmp_path)
    presence.say(OBEYS)
    (tmp_path / ATTENDED).unlink()
    presence.say(OBEYS)
    assert not (tmp_path / ATTENDED).exists()
