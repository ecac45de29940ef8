"""Which checks are asked with which options: the defaults, a preset over them, single options over both."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from debugtracer.checks.check import Check, checks, find_check
from debugtracer.checks.presets import PRESETS
from debugtracer.errors import UsageError

TRUTHS = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


def select(preset: str = "default", options: Iterable[str] = ()) -> dict[str, Check]:
    """Every check by slug, with the options of a preset and of `CHECK.FIELD=VALUE` words. Raises UsageError naming what
    there is."""
    if preset not in PRESETS:
        raise UsageError(f"--preset {preset}: there is no such preset; there are {', '.join(PRESETS)}")
    wanted = {slug: dict(values) for slug, values in PRESETS[preset].items()}
    for word in options:
        slug, field, value = parsed(word)
        wanted.setdefault(slug, {})[field] = value
    return {slug: with_options(check, wanted.get(slug, {})) for slug, check in checks().items()}


def with_options(check: Check, values: Mapping[str, Any]) -> Check:
    """The check with other options; those it does not have are left out, so that a preset may be older than a check."""
    return msgspec.structs.replace(check, **{n: value for n, value in values.items() if n in check.__struct_fields__})


def parsed(word: str) -> tuple[str, str, Any]:
    """Parse `CHECK.FIELD=VALUE` into slug, field and value. Raises UsageError."""
    target, equals, text = word.partition("=")
    name, dot, field = target.rpartition(".")
    if not (equals and dot and name and field):
        raise UsageError(f"--option {word}: expected CHECK.FIELD=VALUE, for example loss-spike.z_max=8")
    check = find_check(name)
    kinds = typing.get_type_hints(type(check))
    known = list(check.__struct_fields__)
    if field not in known:
        raise UsageError(f"--option {word}: {check.slug} has no option {field!r}; it has {', '.join(known) or 'none'}")
    value = value_of(word, kinds[field], text)
    usual = getattr(check, field)
    if type(usual) is int and type(value) is int and value < min(usual, 1):
        raise UsageError(
            f"--option {word}: {value} is too small; expected {min(usual, 1)} or more (the default is {usual})"
        )
    return check.slug, field, value


def value_of(word: str, kind: Any, text: str) -> Any:
    """The value of an option from its text; tuples are separated by commas. Raises UsageError."""
    try:
        if typing.get_origin(kind) is tuple:
            inner = typing.get_args(kind)[0]
            return tuple(value_of(word, inner, part.strip()) for part in text.split(",") if part.strip())
        plain = next(k for k in (typing.get_args(kind) or (kind,)) if k is not type(None))
        return TRUTHS[text.lower()] if plain is bool else plain(text)
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"--option {word}: {text!r} is no {getattr(kind, '__name__', kind)}") from None
