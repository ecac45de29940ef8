"""A state that does not load."""

from __future__ import annotations

import pytest

from debugtracer.checks.rollback.state_dict_mismatch import StateDictMismatch
from tests.checks.crashes import a_crash, silent_on_another_error, told

CALLS = ("load_state_dict",)


def test_names_that_differ_by_the_prefix_of_a_wrapper():
    text = (
        "Error(s) in loading state_dict for Net:\n\tMissing key(s) "
        'in state_dict: "a.weight", "a.bias". \n\tUnexpected key(s) in state_dict: '
    )
    (finding,) = told(StateDictMismatch(), a_crash(text + '"module.a.weight", "module.a.bias". ', torch_calls=CALLS))
    assert finding.message == (
        "step 5, rank 0: the saved names and those of the model differ by the prefix `module.` (2 names); expected the "
        "names of the model. Save the "
        "unwrapped model, or strip the prefix."
    )


def test_a_head_of_another_size():
    text = (
        "Error(s) in loading state_dict for Net:\n\tsize mismatch for head.weight: copying a param with shape "
        "torch.Size([10, 8]) from checkpoint, "
        "the shape in current model is torch.Size([5, 8])."
    )
    (finding,) = told(StateDictMismatch(), a_crash(text, torch_calls=CALLS))
    assert "head.weight is (10, 8) in the saved state and (5, 8) in the model" in finding.message


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(StateDictMismatch())


@pytest.mark.parametrize(
    ("error", "message", "is_told"),
    [
        ("RuntimeError", 'Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "a".', True),
        ("ValueError", "loaded state dict has a different number of parameter groups", True),
        ("RuntimeError", "The source state dict is empty, possibly because it was saved from a disabled scaler.", True),
        ("KeyError", "'param_groups'", True),
        ("RuntimeError", "PytorchStreamReader failed reading zip archive", False),  # a damaged file read in a hook
        ("RuntimeError", "CUDA error: device-side assert triggered", False),
        ("TypeError", "Expected state_dict to be dict-like, got <class 'NoneType'>.", False),
    ],
)
def test_only_what_torch_says_of_a_state_is_a_state_that_does_not_fit(error, message, is_told):
    assert bool(told(StateDictMismatch(), a_crash(message, error, torch_calls=CALLS))) is is_told
