"""The tables: which tokens there are, under which ids, how added ones are matched, and what the special ones are
for."""

from __future__ import annotations

from collections.abc import Iterator

from debugtracer.tokenizer.difference import Difference, different, shown, unmeasured
from debugtracer.tokenizer.loaded import Loaded

LOAD = "load the tokenizer that was saved with the trained model"


def vocabulary(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Yield tokens that one side lacks, and tokens under another id."""
    missing = by_id(train, train.vocab.keys() - serve.vocab.keys())
    extra = by_id(serve, serve.vocab.keys() - train.vocab.keys())
    moved = by_id(
        train, {token for token in train.vocab.keys() & serve.vocab.keys() if train.vocab[token] != serve.vocab[token]}
    )
    if missing:
        yield different(
            "vocabulary",
            "serve",
            f"{len(missing)} token(s) missing ({shown(missing)})",
            f"all {len(train.vocab)} of train",
            LOAD,
        )
    if extra:
        beyond = sum(serve.vocab[token] > max(train.vocab.values(), default=-1) for token in extra)
        seen = (
            f"{len(extra)} token(s) that train never saw ({shown(extra)}), {beyond} of them with ids beyond the "
            "trained table"
        )
        yield different("vocabulary", "serve", seen, f"none but the {len(train.vocab)} of train", LOAD)
    if moved:
        token = moved[0]
        seen = f"{len(moved)} token(s) under another id (first {token!r}: {serve.vocab[token]})"
        yield different("vocabulary", "serve", seen, f"the ids of train ({token!r}: {train.vocab[token]})", LOAD)


def by_id(side: Loaded, tokens: set[str]) -> list[str]:
    """Sort tokens in the order of their ids."""
    return sorted(tokens, key=lambda token: side.vocab[token])


def added(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Yield differences of the added tokens: which, and how they are matched in a text."""
    missing, extra = sorted(train.added.keys() - serve.added.keys()), sorted(serve.added.keys() - train.added.keys())
    if missing:
        seen = f"{shown(missing)} not an added token, so that text is cut like any other"
        yield different("added tokens", "serve", seen, "matched whole, as in train", LOAD)
    if extra:
        yield different(
            "added tokens", "serve", f"{shown(extra)} matched whole", "cut like any other text, as in train", LOAD
        )
    for token in sorted(train.added.keys() & serve.added.keys()):
        here, there = train.added[token][1], serve.added[token][1]
        flags = [flag for flag in here if here[flag] != there[flag]]
        if flags:
            seen, expected = (", ".join(f"{flag}={side[flag]}" for flag in flags) for side in (there, here))
            yield different("added tokens", "serve", f"{token!r} has {seen}", f"{expected}, as in train", LOAD)


def special(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Which token begins, ends, pads, masks; and which ones decoding leaves out."""
    if train.roles is None or serve.roles is None:
        yield unmeasured(
            "special tokens", "a tokenizer.json does not tell which token pads, begins or ends; give the folder"
        )
        return
    for role, token in train.roles.items():
        if (told := serve.roles.get(role)) != token or number(serve, told) != number(train, token):
            yield different(
                "special tokens",
                "serve",
                f"{role} is {named(serve, told)}",
                f"{named(train, token)}, as in train",
                LOAD,
            )
    rest = sorted(
        ((train.special or frozenset()) ^ (serve.special or frozenset()))
        - {*train.roles.values(), *serve.roles.values()}
    )
    if rest:
        yield different(
            "special tokens",
            "serve",
            f"{shown(rest)} special on one side only",
            "the same set, for decoding leaves special tokens out",
            LOAD,
        )


def number(side: Loaded, token: str | None) -> int | None:
    """The id of a token."""
    return None if token is None else side.vocab.get(token)


def named(side: Loaded, token: str | None) -> str:
    """A token with its id."""
    return "not set" if token is None else f"{token!r} (id {number(side, token)})"
