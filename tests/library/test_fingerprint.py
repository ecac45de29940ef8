"""The same fault has the same fingerprint on every machine; another fault has another."""

from __future__ import annotations

import msgspec
import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.library.fingerprint import general, plain_op, signature_of
from debugtracer.testing import a_masked_row
from debugtracer.trace.verdict import Verdict


def moved(value: object) -> object:
    """The same facts from another machine: other folders, other lines, other samples."""
    text = (
        msgspec.json.encode(value)
        .decode()
        .replace("/home/someone/project", "/scratch/u17")
        .replace('"line":4', '"line":14')
    )
    return msgspec.json.decode(text, type=type(value))


def test_it_does_not_depend_on_the_machine_the_line_or_the_step():
    facts = a_masked_row()
    verdict = rank(facts)
    later = msgspec.structs.replace(
        verdict, step=999, iteration=1998, rank=3, file="/other/x.py", line=7, sample_index=(1,), confidence=0.4
    )
    assert signature_of(moved(facts), later).fingerprint == signature_of(facts, verdict).fingerprint  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "zero_norm"},
        {"op": "aten::div"},
        {"direction": "update"},
        {"birth_kind": "overflow"},
        {"module": "head"},
        {"symptom": "inf_grad"},
    ],
)
def test_each_part_changes_it(change):
    facts = a_masked_row()
    verdict = rank(facts)
    assert (
        signature_of(facts, msgspec.structs.replace(verdict, **change)).fingerprint
        != signature_of(facts, verdict).fingerprint
    )


@pytest.mark.parametrize(
    ("module", "same"),
    [
        ("blocks.3.attn", "blocks.*.attn"),
        ("module._orig_mod.blocks.11.attn", "blocks.*.attn"),
        ("layer1.0.conv2", "layer1.*.conv2"),
        ("", ""),
    ],
)
def test_indices_and_wrappers_are_generalised(module, same):
    assert general(module) == same


@pytest.mark.parametrize(
    ("op", "same"),
    [
        ("aten::_foreach_addcdiv_.Scalar", "addcdiv"),
        ("aten::native_batch_norm", "batch_norm"),
        ("aten::cudnn_batch_norm", "batch_norm"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "scaled_dot_product_attention"),
        ("aten::_scaled_dot_product_efficient_attention", "scaled_dot_product_attention"),
        (None, ""),
    ],
)
def test_an_operator_is_the_same_on_every_backend(op, same):
    assert plain_op(op) == same


def test_a_verdict_without_facts_has_one_too():
    verdict = Verdict(
        kind="stale_gradients", cause="stale-gradients", symptom="silent", layer="optimizer", iteration=3, step=3
    )
    assert signature_of(None, verdict).words == "stale_gradients, silent"
    assert len(signature_of(None, verdict).fingerprint) == 12
