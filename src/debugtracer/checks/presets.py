"""Named sets of options: check -> option -> value. `seed` holds the thresholds of the articles that asked for this system, guards kept."""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "default": {},
    "seed": {
        "data/range-extreme": {"most": 1e4},  # S0 chapter 1: max - min
        "model/gradient-limits": {
            "norm_high": 1e3,  # S0 3.3
            "norm_low": 1e-5,  # S0 3.3
            "ratio": 1e-5,  # S0 chapter 1: norm over norm, "persistently"; both ways (CHECKS W3)
            "std_ratio": 100.0,  # S0 chapter 1
        },
        "model/vanishing-gradient": {"first_to_last": 1e-3},  # S0 4.4: attenuated by more than three orders
        "optimizer/loss-spike": {"sigma_max": 3.0},  # S0 4.3: 3 sigma over a window of 100
    },
}
