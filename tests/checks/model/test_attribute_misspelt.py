"""Attributes that torch does not read."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.model.attribute_misspelt import AttributeMisspelt
from debugtracer.trace.facts.misspelt_name import MisspeltName
from tests.checks.optimizer.seen import at, found, line


def name(**more: Any) -> MisspeltName:
    given = {"path": "words", "layer": "Embedding", "name": "weights", "meant": "weight", "frame": line(33)}
    return MisspeltName(ref=at(0), **{**given, **more})


def test_a_tensor_that_the_layer_does_not_read():
    (finding,) = found(AttributeMisspelt(), [name()])
    assert finding.message == (
        "step 0, rank 0: words (Embedding) is given a tensor `weights` (train.py:33), which nothing reads: the layer "
        "uses `weight`, of the same shape, as it was made; expected `weight`. Rename it."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "bad_init", line(33))


def test_a_flag_of_a_module_and_one_of_parameters():
    flag = {"name": "requires_grad", "meant": "requires_grad", "value": False, "parameters": 4}
    (module,) = found(AttributeMisspelt(), [name(path="encoder", layer="Sequential", **flag)])
    assert module.message.endswith(
        "encoder (Sequential) is given `requires_grad = False` (train.py:33), which nothing reads: `requires_grad` of "
        "4 parameters is True; expected them frozen. Use `module.requires_grad_(False)`."
    )
    assert module.kind == "optimizer_params_mismatch"
    flag |= {"name": "require_grad", "parameters": 1}
    (parameter,) = found(AttributeMisspelt(), [name(path="0.weight", layer="Parameter", **flag)])
    assert "0.weight, a parameter, is given `require_grad = False`" in parameter.message
    assert "of 1 parameter is True" in parameter.message and parameter.place.param == "0.weight"


def test_a_setting_that_no_optimizer_reads():
    more = {"path": "", "layer": "SGD", "name": "optimizer.lr", "meant": "lr", "given": 0.002, "used": 0.02}
    (finding,) = found(AttributeMisspelt(), [name(**more)])
    assert finding.message == (
        "step 0, rank 0: optimizer.lr = 0.002 is written (train.py:33), which SGD never reads: `lr` of all its groups "
        "is still 0.02; expected 0.002. Write it into param_groups."
    )
    assert (finding.kind, finding.place.frame) == ("scheduler_misuse", line(33))
    (decay,) = found(AttributeMisspelt(), [name(**{**more, "meant": "weight_decay"})])
    assert decay.kind == "optimizer_params_mismatch"
