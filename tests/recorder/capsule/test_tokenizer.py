"""Facts about finding a tokenizer behind a loader and decoding with it."""

from __future__ import annotations

import functools

import pytest

from debugtracer.recorder.capsule.tokenizer import TOKENS, decoded, decoder_for, find_tokenizer


class Words:
    """The two members of a Hugging Face tokenizer that matter here."""

    vocab_size = 4
    words = ("the", "cat", "sat", "down")

    def decode(self, ids):
        return " ".join(self.words[one] for one in ids)


class Loader:
    def __init__(self, dataset, collate_fn=None):
        self.dataset = dataset
        self.collate_fn = collate_fn


def closing(tokenizer):
    return lambda samples: tokenizer.decode(samples)


class Collator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def collate(self, samples):
        return samples


@pytest.mark.parametrize(
    "wrap",
    [closing, Collator, lambda t: Collator(t).collate, lambda t: functools.partial(print, t)],
    ids=["closure", "object", "method", "partial"],
)
def test_a_tokenizer_is_found_behind_a_collate_function(wrap):
    tokenizer = Words()
    assert find_tokenizer([wrap(tokenizer)]) is tokenizer


def test_a_loader_without_a_tokenizer_has_no_decoder():
    assert decoder_for(Loader([1, 2], len)) is None


def test_the_decoder_of_a_loader_speaks():
    assert decoder_for(Loader(None, closing(Words())))([1, 2]) == "cat sat"


def test_an_attribute_that_raises_is_survived():
    class Hostile:
        @property
        def decode(self):
            raise RuntimeError("no")

    assert decoder_for(Loader(Hostile())) is None


def test_ignored_ids_are_left_out_and_foreign_ones_are_not_decoded():
    assert decoded(Words(), [-100, 0, 1]) == "the cat"
    assert decoded(Words(), [0, 4]) is None
    assert decoded(Words(), [-100]) is None


def test_only_256_ids_are_decoded():
    assert decoded(Words(), [1] * 1000).split() == ["cat"] * TOKENS


def test_added_tokens_beyond_vocab_size_are_decoded():
    class Longer(Words):
        words = (*Words.words, "<pad>")

        def __len__(self):
            return 5

    assert decoded(Longer(), [0, 4]) == "the <pad>"


def test_a_real_hugging_face_tokenizer_is_found_and_decodes():
    transformers = pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    model = tokenizers.models.WordLevel({"the": 0, "cat": 1, "[UNK]": 2}, unk_token="[UNK]")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(model), unk_token="[UNK]", pad_token="[PAD]"
    )
    decode = decoder_for(Loader(None, transformers.DataCollatorWithPadding(fast)))
    assert decode([0, 1, 1]) == "the cat cat"


class Asked:
    """Counts how often it is looked at."""

    def __init__(self) -> None:
        self.times = 0

    @property
    def decode(self):
        self.times += 1
        return None


def test_what_is_reached_by_two_ways_is_looked_at_once():
    asked = Asked()
    assert find_tokenizer([Collator(asked), Collator(asked), asked]) is None and asked.times == 1
