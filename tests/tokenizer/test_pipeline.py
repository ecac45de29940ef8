"""The steps of tokenizer.json."""

from __future__ import annotations

from debugtracer.tokenizer.encoding import Probed
from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.pipeline import first_leaf, pipeline
from tests.tokenizer.building import a_tokenizer, edited

SAME, OTHER = Probed(10, [], 0, 0), Probed(10, [], 0, 1)


def test_a_setting_is_named_by_its_path_and_weighs_what_the_ids_say(tmp_path):
    def prefix(whole):
        whole["pre_tokenizer"]["add_prefix_space"] = True

    train, serve = load(a_tokenizer(tmp_path / "a")), load(edited(a_tokenizer(tmp_path / "b"), prefix))
    (found,) = pipeline(train, serve, OTHER)
    assert found.state == "different"
    assert found.message.startswith("serve, pre_tokenizer.add_prefix_space - True - expected False, as in train")
    (found,) = pipeline(train, serve, SAME)
    assert found.state == "note" and "the same ids for all 10 probe texts" in found.message
    assert list(pipeline(train, train, OTHER)) == []


def test_other_merges_are_a_difference_whatever_the_probes_say(tmp_path):
    def swap(whole):
        merges = whole["model"]["merges"]
        merges[-1], merges[-2] = merges[-2], merges[-1]

    train, serve = load(a_tokenizer(tmp_path / "a")), load(edited(a_tokenizer(tmp_path / "b"), swap))
    (found,) = pipeline(train, serve, SAME)
    assert found.state == "different" and "serve, model.merges[" in found.message


def test_the_first_leaf_that_differs():
    assert first_leaf(
        {"type": "A", "x": [1, {"type": "B", "y": 2}]}, {"type": "A", "x": [1, {"type": "B", "y": 3}]}
    ) == (".x[1].y", 2, 3)
    assert first_leaf({"type": "A"}, {"type": "B"}) == ("", {"type": "A"}, {"type": "B"})
    assert first_leaf([1], [1, 2]) == ("", "1 entries", "2 entries")
    assert first_leaf(None, 3) == ("", None, 3)
