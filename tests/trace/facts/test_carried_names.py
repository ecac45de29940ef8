"""Ids that mean other names than the loaded rows were trained with."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.carried_names import CarriedNames
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef

MADE = Frame("/p/train.py", 72, "finetune", "vocab = build_vocab(assay)")
LOADED = Frame("/p/train.py", 74, "finetune", 'model.load_state_dict(checkpoint["model"])')


def carried(**known: object) -> CarriedNames:
    """The tokens of an assay."""
    given = {"table": "vocab", "former": "vocab", "common": 12, "differ": 11} | known
    return CarriedNames(
        ref=StepRef(iteration=400, step=400), param="tokens.weight", rows=16, name="N", trained=6, now=2, frame=MADE,
        loaded=LOADED, **given,  # type: ignore[arg-type]
    )  # fmt: skip


def test_it_survives_json() -> None:
    fact = carried()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_table_is_a_fact_of_its_own() -> None:
    assert carried().key() == carried(differ=4).key()
    assert carried().key() != carried(table="words").key()
