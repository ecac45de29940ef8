"""Methods that are called again, and loops that come before others."""

from __future__ import annotations

import pytest

from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.repeated_call import is_called_again
from debugtracer.source.program import methods

OWNER = "class Kept:\n    def run(self):\n        pass\n    def twice(self):\n        self.run()\n        self.run()\n"
AGAIN = {
    "in a loop": "for x in data:\n    kept.run()\n",
    "in a function that a loop calls": "def follow():\n    kept.run()\nwhile True:\n    follow()\n",
    "twice": "kept.run()\nkept.run()\n",
}
ONCE = {
    "once": "kept.run()\n",
    "on an object that is made for it": "for x in data:\n    Kept(x).run()\n",
    "on one that each turn makes": "for x in data:\n    kept = Kept(x)\n    kept.run()\n",
    "on two objects": "one.run()\nother.run()\n",
    "never": "",
}


def again(tmp_path, text):
    file = tmp_path / "train.py"
    file.write_text(text)
    program = program_of(str(file))
    assert program is not None
    return is_called_again((program,), methods(program.classes["Kept"])["run"])


@pytest.mark.parametrize("name", AGAIN)
def test_one_that_runs_again_on_the_same_object(tmp_path, name):
    assert again(tmp_path, OWNER.split("    def twice")[0] + AGAIN[name])


@pytest.mark.parametrize("name", ONCE)
def test_one_that_runs_once_on_each(tmp_path, name):
    assert not again(tmp_path, OWNER.split("    def twice")[0] + ONCE[name])


def test_two_calls_in_one_method(tmp_path):
    assert again(tmp_path, OWNER)
