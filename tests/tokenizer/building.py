"""Real tokenizers, trained on the text of Python's own manual and saved as people save them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import BertTokenizer, PreTrainedTokenizerFast

TEXTS = list(topics.values())[:30]
CHAT = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}"


@functools.cache
def bpe_json(vocab_size: int = 600) -> str:
    """A byte-level BPE as tokenizer.json."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer, own.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=["<|endoftext|>", "<pad>"], initial_alphabet=alphabet, show_progress=False
    )
    own.train_from_iterator(TEXTS, trainer)
    return str(own.to_str())


@functools.cache
def words_json(lowercase: bool = True, unknown: str | None = "[UNK]") -> str:
    """Whole words as tokenizer.json."""
    own = Tokenizer(models.WordLevel(unk_token=unknown))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    if lowercase:
        own.normalizer = normalizers.Lowercase()
    own.train_from_iterator(
        TEXTS,
        trainers.WordLevelTrainer(vocab_size=500, special_tokens=[unknown] if unknown else [], show_progress=False),
    )
    return str(own.to_str())


@functools.cache
def pieces() -> str:
    """The vocab.txt of a WordPiece."""
    own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    own.normalizer, own.pre_tokenizer = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False
    )
    own.train_from_iterator(TEXTS, trainer)
    known = own.get_vocab()
    return "\n".join(sorted(known, key=lambda token: known[token]))


def a_tokenizer(
    folder: Path, change: Callable[[Any], None] | None = None, text: str | None = None, **settings: Any
) -> Path:
    """A fast tokenizer saved by `save_pretrained`; `change` gets the object before it is saved."""
    given = {"eos_token": "<|endoftext|>", "pad_token": "<pad>", "model_max_length": 128, **settings}
    own = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(text or bpe_json()), **given)
    own.chat_template = CHAT
    if change is not None:
        change(own)
    own.save_pretrained(str(folder))
    return folder


def a_bert(folder: Path) -> Path:
    """A BERT tokenizer with the files of its fast and of its slow reader."""
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text(pieces(), encoding="utf-8")
    BertTokenizer.from_pretrained(str(folder)).save_pretrained(str(folder))
    return folder


def edited(folder: Path, change: Callable[[dict[str, Any]], None], name: str = "tokenizer.json") -> Path:
    """The folder after a change of one of its JSON files."""
    file = folder / name
    whole = json.loads(file.read_text(encoding="utf-8"))
    change(whole)
    file.write_text(json.dumps(whole), encoding="utf-8")
    return folder
