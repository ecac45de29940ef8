"""Facts about hooks: a switch is off between pause and resume; after patches everything is as it was after them, and
what others patched over ours stays."""

from __future__ import annotations

import pytest

from debugtracer.hooks.hook import MISSING, AlwaysOn, OutermostCalls, Patches, Switch


class Base:
    def name(self) -> str:
        return "base"

    @classmethod
    def kind(cls) -> str:
        return f"kind of {cls.__name__}"


class Child(Base):
    pass


def test_a_function_is_wrapped_and_comes_back() -> None:
    patches, before = Patches(), Base.name
    patches.wrap(Base, "name", lambda original: lambda self: f"our {original(self)}")
    assert Base().name() == "our base"
    patches.undo()
    assert Base.name is before


def test_an_inherited_attribute_is_patched_on_the_owner_and_taken_off_again() -> None:
    patches = Patches()
    patches.wrap(Child, "name", lambda original: lambda self: f"our {original(self)}")
    assert (Child().name(), Base().name()) == ("our base", "base")
    patches.undo()
    assert "name" not in vars(Child)


def test_a_class_method_is_restored_as_one() -> None:
    patches, before = Patches(), vars(Base)["kind"]
    patches.put(Base, "kind", classmethod(lambda cls: "ours"))
    assert Child.kind() == "ours"
    patches.undo()
    assert vars(Base)["kind"] is before
    assert Child.kind() == "kind of Child"


def test_two_patches_of_one_name_come_off_newest_first() -> None:
    patches, before = Patches(), Base.name
    for word in ("first", "second"):
        patches.wrap(Base, "name", lambda original, word=word: lambda self: f"{word} {original(self)}")
    assert Base().name() == "second first base"
    patches.undo()
    assert Base.name is before


def test_what_somebody_patched_over_ours_stays() -> None:
    patches, before = Patches(), Base.name
    patches.put(Base, "name", lambda self: "ours")
    theirs = Base.name = lambda self: "theirs"  # type: ignore[method-assign]
    patches.undo()
    assert Base.name is theirs
    Base.name = before  # type: ignore[method-assign]


def test_an_instance_may_be_patched_too() -> None:
    patches, thing = Patches(), Base()
    patches.put(thing, "name", lambda: "ours")
    assert thing.name() == "ours"
    patches.undo()
    assert vars(thing).get("name", MISSING) is MISSING


def test_undo_may_be_called_again() -> None:
    patches = Patches()
    patches.put(Base, "name", Base.name)
    patches.undo()
    patches.undo()
    assert Base().name() == "base"


def test_a_library_is_covered_once_it_is_there_and_only_once() -> None:
    patches, make = Patches(), lambda original: lambda self: f"our {original(self)}"
    patches.cover(f"{__name__}_that_is_not_there", "Base.name", make)
    patches.cover(__name__, "Base.missing", make)
    assert not patches.covered
    patches.cover(__name__, "Base.name", make)
    patches.cover(__name__, "Base.name", make)
    assert Base().name() == "our base"
    patches.undo()
    assert Base().name() == "base"
    assert not patches.covered


def test_only_the_outermost_call_is_told_and_none_once_it_is_off():
    calls, told = OutermostCalls(), []

    def down(depth: int) -> int:
        return stand_in(depth - 1) + 1 if depth else 0

    stand_in = calls.after(down, lambda args, kwargs, result: told.append((args, kwargs, result)))
    assert stand_in(3) == 3
    assert told == [((3,), {}, 3)]
    assert not calls.passes()
    assert calls.inside(calls.passes)
    with pytest.raises(TypeError):
        stand_in("three")
    assert (calls.depth, len(told)) == (0, 1)
    calls.close()
    assert stand_in(2) == 2
    assert len(told) == 1


def test_a_switch_is_off_between_pause_and_resume() -> None:
    switch = Switch()
    assert not switch.off
    switch.pause()
    assert switch.off
    switch.resume()
    assert not switch.off


def test_a_hook_that_is_always_on_has_nothing_to_silence() -> None:
    hook = AlwaysOn()
    hook.pause()
    hook.resume()
    assert vars(hook) == {}
