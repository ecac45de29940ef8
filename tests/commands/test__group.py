"""The group of commands in typer's terms."""

from __future__ import annotations

import pytest

from debugtracer.commands._group import command, executed
from debugtracer.commands._names import names


def test_every_name_is_a_command():
    assert [command(name).name for name in names()] == names()


def test_what_a_command_raises_passes():
    with pytest.raises(Exception, match="No such command"):
        executed(["nope"])
