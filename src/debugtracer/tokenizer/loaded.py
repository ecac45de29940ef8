"""One tokenizer, loaded from a folder or a tokenizer.json: without network, without code of its own, and as a value
that can be compared."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debugtracer.errors import UsageError

NO_LIMIT = 10**15  # transformers writes 1e30 for "no maximal length"
REFUSED = -1
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")
Encode = Callable[[list[str], bool], list[list[int]]]  # texts, whether to add special tokens


@dataclass(frozen=True)
class Loaded:
    """What a tokenizer says of itself, and how it encodes. None means: this kind of file does not say."""

    path: Path
    kind: str
    vocab: dict[str, int]
    added: dict[str, tuple[int, dict[str, bool]]]
    """Added tokens: id and flags."""
    encode: Encode = field(repr=False)
    decode: Callable[[list[int]], str] = field(repr=False)
    roles: dict[str, str | None] | None = None
    special: frozenset[str] | None = None
    """Tokens that decoding leaves out when asked to."""
    padding_side: str | None = None
    truncation_side: str | None = None
    max_length: int | None = None
    """0 is no limit."""
    templates: dict[str, str] | None = None
    """Chat templates by name."""
    render: Callable[[list[dict[str, str]]], str] | None = field(default=None, repr=False)
    pipeline: dict[str, Any] | None = None
    """The sections of tokenizer.json: normalizer, pre_tokenizer, model, post_processor, decoder, truncation,
    padding."""
    own: Any = field(default=None, repr=False)
    """The object of the library."""


def load(path: Path) -> Loaded:
    """The tokenizer of a folder written by `save_pretrained`, or of a tokenizer.json. Raises UsageError with one
    sentence."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such folder or file; give a folder written by save_pretrained, or a tokenizer.json"
        )
    try:
        return from_folder(path) if path.is_dir() else from_file(path)
    except UsageError:
        raise
    except Exception as error:  # the libraries raise everything from OSError to their Rust errors
        raise UsageError(
            f"{path}: {reason(error)}; give a folder written by save_pretrained, or a tokenizer.json"
        ) from None


def reason(error: Exception) -> str:
    """The first sentence of a loading error."""
    text = str(error)
    if "trust_remote_code" in text:
        return "this tokenizer is code of its own, which is not executed here"
    first = (text.strip().splitlines() or ["no message"])[0]
    return f"no tokenizer can be loaded ({type(error).__name__}: {first[:160]})"


def library(name: str) -> Any:
    """A library of Hugging Face, imported when it is needed, told to stay offline and quiet. Raises UsageError if it is
    missing."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        found = importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{name} is needed to read tokenizers and cannot be imported ({error}); pip install transformers"
        ) from None
    if name == "transformers":
        found.logging.set_verbosity(50)  # a text beyond the model's length is what we ask for, not a warning
    return found


def from_folder(path: Path) -> Loaded:
    """Load through transformers' AutoTokenizer, local files only."""
    return from_object(
        library("transformers").AutoTokenizer.from_pretrained(
            str(path), local_files_only=True, trust_remote_code=False
        ),
        path,
    )


def from_object(own: Any, path: Path) -> Loaded:
    """A tokenizer object of transformers, as a value."""
    longest = int(min(own.model_max_length, NO_LIMIT))
    backend = getattr(own, "backend_tokenizer", None) if own.is_fast else None
    return Loaded(
        path=path,
        kind=f"{type(own).__name__} ({'fast' if own.is_fast else 'slow'})",
        vocab={str(token): int(number) for token, number in own.get_vocab().items()},
        added={str(token): (int(number), flags_of(token)) for number, token in own.added_tokens_decoder.items()},
        encode=one_by_one(
            lambda text, special: own(text, add_special_tokens=special, truncation=False, padding=False)["input_ids"]
        ),
        decode=lambda ids: str(own.decode(ids)),
        roles={role: text_of(own.special_tokens_map.get(role)) for role in ROLES},
        special=frozenset(map(str, own.all_special_tokens)),
        padding_side=own.padding_side,
        truncation_side=own.truncation_side,
        max_length=0 if longest >= NO_LIMIT else longest,
        templates=templates_of(own.chat_template),
        render=lambda messages: str(own.apply_chat_template(messages, tokenize=False)),
        pipeline=None if backend is None else sections(json.loads(backend.to_str())),
        own=own,
    )


def from_file(path: Path) -> Loaded:
    """Load through the tokenizers library alone, as a server without Python reads a tokenizer.json."""
    own = library("tokenizers").Tokenizer.from_file(str(path))
    pipeline = sections(json.loads(own.to_str()))
    own.no_truncation()  # compared as settings; ids are compared whole
    own.no_padding()
    return Loaded(
        path=path,
        kind="tokenizer.json (fast)",
        vocab=own.get_vocab(with_added_tokens=True),
        added={token.content: (number, flags_of(token)) for number, token in own.get_added_tokens_decoder().items()},
        encode=one_by_one(lambda text, special: own.encode(text, add_special_tokens=special).ids),
        decode=lambda ids: str(own.decode(ids, skip_special_tokens=False)),
        pipeline=pipeline,
        own=own,
    )


def one_by_one(ids_of: Callable[[str, bool], list[int]]) -> Encode:
    """Encode texts one by one; a text that the tokenizer refuses (no unknown token, for one) has the single id -1."""

    def ids(text: str, special: bool) -> list[int]:
        try:
            return list(ids_of(text, special))
        except Exception:  # the Rust library raises plain Exception
            return [REFUSED]

    return lambda texts, special: [ids(text, special) for text in texts]


def flags_of(token: Any) -> dict[str, bool]:
    """How an added token is matched in a text."""
    return {flag: bool(getattr(token, flag, False)) for flag in FLAGS}


def text_of(token: Any) -> str | None:
    """A special token as text."""
    return None if token is None else str(token)


def templates_of(template: Any) -> dict[str, str]:
    """The chat templates by name: none, one, or several."""
    if template is None:
        return {}
    return (
        {str(name): str(text) for name, text in template.items()}
        if isinstance(template, dict)
        else {"default": str(template)}
    )


def sections(whole: dict[str, Any]) -> dict[str, Any]:
    """Return tokenizer.json without what the vocabulary and the added tokens say already."""
    model = {key: value for key, value in (whole.get("model") or {}).items() if key != "vocab"}
    return {
        **{
            name: whole.get(name)
            for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding")
        },
        "model": model,
    }
