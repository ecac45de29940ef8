"""Facts about the line on which the user built an object."""

from __future__ import annotations

import json
import sys
import threading

import torch
from torch.utils._pytree import tree_map

from debugtracer.callsites.construction import built_at, calls_a_library, is_user_file


class Built:
    def __init__(self, *_):
        self.frame = built_at(sys._getframe(1), self)
        self.from_library = calls_a_library(sys._getframe(1), self)


class Sub(Built):
    def __init__(self):
        super().__init__()


class SubSub(Sub):
    def __init__(self):
        super().__init__()


def factory():
    return Built()


def test_the_line_is_that_of_the_call():
    built = Built()
    assert (built.frame.file, built.frame.code) == (__file__, "built = Built()")
    assert not built.from_library


def test_constructors_of_subclasses_are_passed_over():
    built = SubSub()
    assert built.frame.code == "built = SubSub()"


def test_a_factory_of_the_user_is_the_line_to_edit():
    built = factory()
    assert (built.frame.code, built.frame.function.split(".")[-1]) == ("return Built()", "factory")


def test_a_library_that_builds_it_is_noticed_and_the_users_line_is_the_one_above():
    built = tree_map(Built, 1)
    assert built.from_library
    assert built.frame.code == "built = tree_map(Built, 1)"


def test_without_a_line_of_the_users_there_is_none():
    made = []
    thread = threading.Thread(target=tree_map, args=(lambda _: made.append(built_at(sys._getframe(1), None)), 1))
    thread.start()
    thread.join()
    assert made == [None]


def test_libraries_and_made_up_files_are_not_the_users():
    assert is_user_file(__file__)
    assert not is_user_file(torch.__file__)
    assert not is_user_file(json.__file__)
    assert not is_user_file("<frozen importlib._bootstrap>")
    assert is_user_file("<ipython-input-3-abc>")


def test_a_compiled_library_that_names_its_source_without_a_folder_is_no_file_of_the_user(tmp_path):
    assert not is_user_file("numpy/random/_bounded_integers.pyx")
    own = tmp_path / "fast.pyx"
    own.write_text("")
    assert is_user_file(str(own))
