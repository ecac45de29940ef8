"""Chat templates: compared as text, and as what they make of a conversation."""

from __future__ import annotations

from collections.abc import Iterator

from debugtracer.tokenizer.difference import Difference, different, noted, short, shown, unmeasured
from debugtracer.tokenizer.loaded import Loaded

TALK = (
    [{"role": "user", "content": "Hi, who are you?"}],
    [
        {"role": "user", "content": " 2 + 2 = ?\n"},
        {"role": "assistant", "content": "4"},
        {"role": "user", "content": "Sure?"},
    ],
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
    ],
)
SAVE = "save the tokenizer with its chat_template, and format training texts by apply_chat_template"


def chat(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Yield templates that one side lacks, and those that write a conversation otherwise."""
    if train.templates is None or serve.templates is None:
        yield unmeasured("chat template", "a tokenizer.json has none; give the folder")
        return
    missing, extra = (
        sorted(train.templates.keys() - serve.templates.keys()),
        sorted(serve.templates.keys() - train.templates.keys()),
    )
    if missing:
        yield different("chat template", "serve", f"no template {shown(missing)}", "the one of train", SAVE)
    if extra:
        yield different(
            "chat template", "serve", f"a template {shown(extra)} that train has not", "none, as in train", SAVE
        )
    for name in sorted(train.templates.keys() & serve.templates.keys()):
        if train.templates[name] != serve.templates[name]:
            yield written(name, train, serve)


def written(name: str, train: Loaded, serve: Loaded) -> Difference:
    """Compare two texts of one template by the conversations they write."""
    place = first_difference(train.templates[name], serve.templates[name]) if train.templates and serve.templates else 0
    where = f"serve, template {name!r}"
    if name != "default":
        return different("chat template", where, f"other text from character {place}", "the template of train", SAVE)
    pairs = [(rendered(train, talk), rendered(serve, talk)) for talk in TALK]
    for here, there in pairs:
        if here != there and here is not None and there is not None:
            at = max(first_difference(here, there) - 10, 0)
            return different(
                "chat template",
                where,
                f"writes {short(there[at:])}",
                f"{short(here[at:])} at character {at}, as in train",
                SAVE,
            )
    if all(here is not None and here == there for here, there in pairs):
        seen = f"other text from character {place}, and the same result for {len(TALK)} conversations"
        return noted("chat template", where, seen, "the same text", "compare them where tools or documents are used")
    refuses = any(here is not None and there is None for here, there in pairs)
    seen = "refuses a conversation" if refuses else f"other text from character {place}"
    return different("chat template", where, seen, "what the template of train writes", SAVE)


def rendered(side: Loaded, talk: list[dict[str, str]]) -> str | None:
    """A conversation as text; None when the template refuses it (some allow no system message) or jinja2 is missing."""
    try:
        return side.render(talk) if side.render is not None else None
    except Exception:
        return None  # a template may raise whatever its author wrote


def first_difference(one: str, other: str) -> int:
    """The first place where two texts part."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
