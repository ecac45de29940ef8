"""Assignments that no path of the code reads."""

from __future__ import annotations

from types import CodeType

from debugtracer.callsites.dead_stores import dead_stores, first_read, rewritten


def stores(text: str) -> list[tuple[str, int]]:
    """Name and line of each in the only function of a text."""
    return [(one.name, one.line) for one in dead_stores(inner(text))]


def inner(text: str) -> CodeType:
    whole = compile(text, "program.py", "exec")
    return next(one for one in whole.co_consts if isinstance(one, CodeType))


def test_a_name_that_is_never_read_and_one_that_is_given_another_value_first():
    assert stores("def f(x):\n    a = g(x)\n    return x\n") == [("a", 2)]
    assert stores("def f(x):\n    a = g(x)\n    a = h(x)\n    return a\n") == [("a", 2)]


def test_what_one_path_reads_is_alive():
    assert stores("def f(x):\n    a = g(x)\n    if x:\n        print(a)\n    return x\n") == []
    assert stores("def f(xs):\n    a = 0\n    for x in xs:\n        print(a)\n        a = g(x)\n") == []
    assert stores("def f(x):\n    a = g(x)\n    try:\n        h(x)\n    except ValueError:\n        return a\n") == []
    assert stores("def f(x):\n    with x:\n        a = g(x)\n    return a\n") == []


def test_a_name_that_is_unpacked_does_not_stand_alone():
    found = dead_stores(inner("def f(x):\n    a, b = g(x)\n    c = h(x)\n    return a\n"))
    assert [(one.name, one.alone) for one in found] == [("b", False), ("c", True)]


def test_what_is_looped_over_captured_deleted_or_underscored_is_left_alone():
    assert stores("def f(x):\n    for a in x:\n        print(x)\n") == []
    assert stores("def f(x):\n    a = g(x)\n    return lambda: a\n") == []
    assert stores("def f(x):\n    a = g(x)\n    del a\n") == []
    assert stores("def f(x):\n    _a = g(x)\n") == []
    assert stores("def f(x):\n    global a\n    a = g(x)\n") == []
    assert stores("def f(x):\n    a = b = g(x)\n    return b\n") == []
    assert stores("def f(x):\n    with g(x) as a:\n        print(x)\n") == []


def test_functions_that_look_at_all_their_locals_are_left_alone():
    assert stores("def f(x):\n    a = g(x)\n    return locals()\n") == []


def test_names_of_a_script_count_where_none_of_its_functions_speaks_of_them():
    text = "a = g(1)\nb = g(2)\nc = g(3)\ndef f():\n    return b\nprint(c)\n"
    assert [one.name for one in dead_stores(compile(text, "program.py", "exec"))] == ["a"]
    assert dead_stores(compile("a = g(1)\n", "<cell>", "exec")) == ()


def test_what_is_read_afterwards_and_where():
    code = inner("def f(x, y):\n    a = x + y\n    x = h(x)\n    return x\n")
    (store,) = dead_stores(code)
    assert {"x"} <= store.live and "y" not in store.live
    assert first_read(code, "x", store.offset) == 3
    assert first_read(code, "y", store.offset) is None
    assert rewritten(code, "x", store.offset, 1 << 20) and not rewritten(code, "y", store.offset, 1 << 20)
