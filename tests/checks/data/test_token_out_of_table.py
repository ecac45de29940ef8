"""Ids beyond an embedding table."""

from __future__ import annotations

from debugtracer.checks.data.token_out_of_table import TokenOutOfTable
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import IntegerRows, ModuleSeen
from debugtracer.trace.facts.exchanged_tables import ExchangedTables
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary
from debugtracer.trace.step import StepRef
from tests.checks.crashes import a_crash, seen, silent_on_another_error, told
from tests.trace.facts.test_long_text import a_long_text
from tests.trace.facts.test_overwritten_ids import overwritten


def test_the_table_the_ids_and_the_samples_are_named():
    crash = a_crash(
        "index out of range in self",
        "IndexError",
        torch_calls=("embedding", "forward"),
        modules=(ModuleSeen(path="place", kind="Embedding", sizes={"num_embeddings": 40}),),
        tensors=(seen("input", 2, dtype="int64", low=0, high=42), seen("weight", 40, 8)),
        rows=IntegerRows(name="input", values=((0, 3), (4, 42)), indices=(9, 171)),
    )
    (finding,) = told(TokenOutOfTable(), crash)
    assert finding.message == (
        "step 5, rank 0: place (Embedding, 40 rows) was given ids up to 42 in 1 of 2 rows (sample 171); expected "
        "0..39. Make the table as long as "
        "the vocabulary, or map unknown ids."
    )
    assert (finding.place.module, finding.place.sample_index) == ("place", (171,))


def test_a_table_as_large_as_the_count_of_different_ids_is_what_is_wrong():
    counted = Frame("/p/data.py", 26)
    table = ModuleSeen(path="q", kind="Embedding", sizes={"num_embeddings": 40}, counted=counted)
    ids = IntegerRows(name="input", values=((0, 3), (4, 812)), made=(Frame("/p/data.py", 14),))
    crash = a_crash(
        "index out of range in self",
        "IndexError",
        torch_calls=("embedding", "forward"),
        modules=(table,),
        tensors=(seen("input", 2, dtype="int64", low=0, high=812), seen("weight", 40, 8)),
        rows=ids,
    )
    (finding,) = told(TokenOutOfTable(), crash)
    assert finding.place.frame == counted
    assert "data.py:26 counts the different ids, which leave numbers out; expected 0..39" in finding.message
    assert finding.remedy[0].startswith("size the table by the largest id")


def test_a_table_one_short_of_the_id_of_unknown_values_is_counted_wrongly():
    length, given = Frame("/p/data.py", 45), Frame("/p/data.py", 48)
    for high, line in ((50, 45), (51, 53)):
        table = ModuleSeen(path="linear.1", kind="Embedding", sizes={"num_embeddings": 50}, short=(length, given))
        crash = a_crash(
            "index out of range in self",
            "IndexError",
            torch_calls=("embedding", "forward"),
            modules=(table,),
            tensors=(seen("input", 2, dtype="int64", low=0, high=high), seen("weight", 50, 8)),
            rows=IntegerRows(name="input", values=((0, 3), (4, high)), made=(Frame("/p/data.py", 53),)),
        )
        (finding,) = told(TokenOutOfTable(), crash)
        assert finding.place.frame is not None and finding.place.frame.line == line
        assert (
            "; data.py:48 gives unknown values the length as their id, which data.py:45 counts" in finding.message
        ) == (high == 50)


def test_a_text_that_is_too_long_is_told_with_the_line_that_cuts_it():
    built = Frame("/p/model.py", 12)
    crash = a_crash(
        "index out of range in self",
        "IndexError",
        torch_calls=("embedding", "forward"),
        modules=(ModuleSeen(path="wpe", kind="Embedding", sizes={"num_embeddings": 64}, built=built),),
        tensors=(seen("input", 1, 67, dtype="int64", low=0, high=66), seen("weight", 64, 8)),
    )
    (finding,) = told(TokenOutOfTable(), crash, a_long_text())
    assert finding.message == (
        "step 5, rank 0: wpe (Embedding, 64 rows) (model.py:12) was given ids up to 66; they are places: a text of 67 "
        "tokens meets 64 positions, and dataset.py:16 cuts texts at 80 (train.py:34); expected 0..63. Cut texts at 64 "
        "tokens or fewer (train.py:34), or give the model 80 positions."
    )
    assert finding.place.frame == Frame("/p/train.py", 34)
    assert finding.remedy == ("cut texts at 64 tokens or fewer (train.py:34), or give the model 80 positions",)
    (finding,) = told(TokenOutOfTable(), crash, a_long_text(written=None))
    assert finding.place.frame == Frame("/p/dataset.py", 16)
    (finding,) = told(TokenOutOfTable(), crash, a_long_text(limit=None, cut=None, written=None))
    assert finding.message.endswith("expected 0..63. Cut texts at 64 tokens, or give the model more positions.")
    assert finding.place.frame == built


def test_labels_that_were_masked_in_the_memory_of_the_ids():
    crash = a_crash(
        "index out of range in self",
        "IndexError",
        torch_calls=("embedding", "forward"),
        modules=(ModuleSeen(path="embed", kind="Embedding", sizes={"num_embeddings": 68}),),
        tensors=(seen("input", 1, 9, dtype="int64", low=-100, high=60), seen("weight", 68, 8)),
    )
    (finding,) = told(TokenOutOfTable(), crash, overwritten())
    assert finding.message == (
        "step 5, rank 0: embed (Embedding, 68 rows) was given ids down to -100; -100 is the label that losses leave "
        "out, which train.py:148 writes: the ids are labels, or share their memory; expected 0..67. Copy the ids "
        "before labels are masked: labels = ids.clone(), of a list [one.clone() for one in ids]."
    )
    assert finding.place.frame == Frame("/p/train.py", 148)
    (finding,) = told(TokenOutOfTable(), crash, overwritten(frame=None))
    assert "losses leave out: the ids are labels, or share their memory; expected" in finding.message
    assert finding.remedy[0].startswith("copy the ids before")


def test_the_same_words_from_elsewhere_are_not_an_embedding():
    assert (
        told(TokenOutOfTable(), a_crash("index out of range in self", "IndexError", torch_calls=("index_select",)))
        == []
    )


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(TokenOutOfTable())


def test_a_table_whose_length_is_not_known_has_no_numbers():
    crash = a_crash("index out of range in self", "IndexError", torch_calls=("embedding",))
    (finding,) = told(TokenOutOfTable(), crash)
    assert finding.message == (
        "step 5, rank 0: an embedding (of unknown length) was given ids it has no row for; expected ids below its "
        "number of rows. Make the table as long as the vocabulary, or map unknown ids."
    )


def longer(**known):
    return LongerVocabulary(
        ref=StepRef(iteration=5, step=5),
        entries=52,
        table=50,
        number=51,
        sized=Frame("/p/train.py", 20, "main"),
        **known,
    )


CRASH = a_crash(
    "index out of range in self",
    "IndexError",
    torch_calls=("embedding", "forward"),
    modules=(ModuleSeen(path="embed", kind="Embedding", sizes={"num_embeddings": 50}),),
    tensors=(seen("input", 2, dtype="int64", low=0, high=51), seen("weight", 50, 8)),
    rows=IntegerRows(name="input", values=((0, 3), (4, 51)), indices=(9, 237), made=(Frame("/p/data.py", 90),)),
)


def test_a_tokenizer_with_more_ids_than_rows_is_named_with_both_sizes():
    fact = longer(name="tokenizer", filled=Frame("/p/train.py", 24, "main"), resizes=True)
    (finding,) = told(TokenOutOfTable(), CRASH, fact)
    assert finding.message == (
        "step 5, rank 0: embed (Embedding, 50 rows) was given ids up to 51 in 1 of 2 rows (sample 237); that is an id "
        "of tokenizer (train.py:24), which gives 52 ids; the table gets its size at train.py:20; expected 0..49. Call "
        "model.resize_token_embeddings(len(tokenizer)) behind train.py:24 and before the training."
    )
    assert finding.place.frame == fact.filled and finding.place.sample_index == (237,)
    assert len(finding.remedy) == 3 and finding.remedy[0].startswith("call model.resize_token_embeddings")


def test_a_dict_of_the_program_leads_to_the_line_of_the_table():
    (finding,) = told(TokenOutOfTable(), CRASH, longer(name="Words.numbers", entry="'clove'"))
    assert "that is an id of 'clove' in Words.numbers, which gives 52 ids; " in finding.message
    assert finding.place.frame == Frame("/p/train.py", 20, "main")
    assert finding.remedy[0].startswith("give the table 52 rows or more: num_embeddings=len(Words.numbers) at train.py")


def of_exchanged(given=None, taken=None, whole=True):
    crash = a_crash(
        "index out of range in self",
        "IndexError",
        torch_calls=("embedding", "forward"),
        modules=(ModuleSeen(path="user", kind="Embedding", sizes={"num_embeddings": 45}, built=Frame("/p/net.py", 8)),),
        tensors=(seen("input", 2, dtype="int64", low=0, high=126), seen("weight", 45, 8)),
    )
    fact = ExchangedTables(
        ref=crash.ref,
        rows=45,
        high=129,
        path="item",
        other_rows=130,
        column="batch[1]",
        other_high=44,
        given=given,
        taken=taken,
        whole=whole,
    )
    (finding,) = told(TokenOutOfTable(), fact, crash)
    return finding


def test_two_exchanged_tables_are_told_with_the_lines_of_the_counts():
    finding = of_exchanged(Frame("/p/data.py", 16), Frame("/p/train.py", 42))
    assert finding.message == (
        "step 5, rank 0: user (Embedding, 45 rows) (net.py:8) was given ids up to 126; item has 130 rows; in all the "
        "data, ids up to 129 come here and up to 44 in batch[1]: the two counts are exchanged (returned at data.py:16, "
        "unpacked at train.py:42); expected 0..44. Return the two counts in the order in which they are unpacked."
    )
    assert finding.remedy == ("return the two counts in the order in which they are unpacked",)
    assert finding.place.frame == Frame("/p/data.py", 16)


def test_two_exchanged_tables_of_one_call_or_of_no_line_that_is_known():
    called = of_exchanged(Frame("/p/train.py", 42), whole=False)
    assert "in this batch, ids up to 129" in called.message
    assert "exchanged in the call at train.py:42" in called.message
    open_ = of_exchanged()
    assert open_.remedy == ("exchange the numbers of rows of user and item, or the ids that they are called with",)
    assert open_.place.frame == Frame("/p/net.py", 8)
