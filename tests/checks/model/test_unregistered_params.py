"""Are all layers that receive gradients registered in a module?"""

from __future__ import annotations

from debugtracer.checks.model.unregistered_params import UnregisteredParams
from debugtracer.trace.facts.graph_reach import GraphReach, Stranger
from tests.checks.facts_at import judged, line, ref


def reach(*strangers: Stranger, **fields: object) -> GraphReach:
    return GraphReach(ref=ref(), optimizer="Adam", number=0, strangers=strangers, **fields)  # type: ignore[arg-type]


def hidden(path: str, members: int = 3) -> Stranger:
    return Stranger(path=path, owner="blocks", members=members, shape=(4, 4), frame=line(14))


def test_a_list_of_layers_is_told_at_its_assignment():
    (finding,) = judged(UnregisteredParams(), [reach(hidden("blocks.0.weight"), hidden("blocks.1.weight"))])
    assert finding.message == (
        "step 0, rank 0: 2 parameters receive gradients and are registered in no module: blocks.0.weight and 1 more "
        "hang in a plain container "
        "(blocks, line 14); expected them in parameters(). Use nn.ModuleList, nn.ModuleDict or nn.ParameterList."
    )
    assert (finding.severity, finding.kind, finding.place.module, finding.place.frame.line) == (
        "error",
        "unregistered_params",
        "blocks",
        14,
    )


def test_one_hidden_module_and_a_loose_parameter_are_notes():
    assert [f.severity for f in judged(UnregisteredParams(), [reach(hidden("teacher.0.weight", members=1))])] == [
        "note"
    ]
    loose = Stranger(path=None, owner=None, members=0, shape=(4,))
    assert [f.severity for f in judged(UnregisteredParams(), [reach(loose)])] == ["note"]
    assert not judged(UnregisteredParams(), [reach()])


def test_a_layer_made_anew_in_each_step_is_an_error():
    (finding,) = judged(
        UnregisteredParams(),
        [reach(Stranger(path=None, owner=None, members=0, shape=(4, 4), frame=line(9)), fresh=True)],
    )
    assert (
        "those of shape (4, 4) are new in each step, line 9; expected them in parameters(). Build the layer in "
        "__init__."
    ) in finding.message
    assert finding.severity == "error"
