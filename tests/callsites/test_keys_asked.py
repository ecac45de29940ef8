"""The keys that a function asks of a mapping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from debugtracer.callsites.keys_asked import keys_of_argument, keys_of_rows

HERE = Path(__file__).read_text().splitlines()


class Base:
    """What a library would hold."""

    def _prepare_inputs(self, inputs: Any) -> Any:
        return inputs

    def compute_loss(self, model: Any, inputs: Any) -> Any:
        weight = inputs.pop("weight", None)  # weight
        inputs.pop("index", None)
        _rest = inputs.pop("rest", None)
        if "masked" in inputs:  # masked
            model(inputs["masked"])
        if "dropped" in inputs:
            del inputs["dropped"]
        inputs["made"] = model.get("other")
        batch = self._prepare_inputs(inputs)
        return [weight, batch.get("group"), self.scale(batch), model.config.get("width"), inputs["loud"]]

    def scale(self, rows: dict[str, Any]) -> Any:
        return rows.get("scale", 1.0)  # scale


class Later(Base):
    """Without a version of its own."""


def test_what_is_asked_for_and_used_and_at_which_line():
    asked, written = keys_of_argument(Later, "compute_loss", 2)
    assert sorted(asked) == ["group", "masked", "scale", "weight"]
    assert all(f"# {key}" in HERE[asked[key].line - 1] for key in ("masked", "scale", "weight"))
    assert written == {"made"}


def test_a_method_without_that_argument_and_one_of_a_library_ask_for_nothing():
    assert not keys_of_argument(Later, "scale", 5).asked
    assert not keys_of_argument(dict, "get", 1).asked
    assert not keys_of_argument(Later, "missing", 1).asked


def test_the_samples_of_a_collate_function():
    def collate(rows: list[dict[str, Any]]) -> Any:
        prices = [row.get("price", 0.0) for row in rows]
        days = rows[0].get("day")
        return {"prices": prices, "names": [row["name"] for row in rows], "days": days}

    assert sorted(keys_of_rows(collate).asked) == ["day", "price"]
    assert not keys_of_rows(len).asked
    assert not keys_of_rows(Path.cwd).asked
