"""Which responses answer a bad step: by mode, and by the cause that its verdict names; the smallest intrusion first."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.responses.bad_step import BAD_WEIGHTS, BadStep
from debugtracer.responses.response import responses

# causes that another batch does not take away: the responses that may not answer them, and why
REFUSED = {
    "weights-nonfinite": (("skip-update",), BAD_WEIGHTS),
}


@dataclass(frozen=True)
class Policy:
    """One per run, pure: what is done belongs to the responses."""

    mode: str

    def allowed(self) -> tuple[str, ...]:
        """The responses in the order in which they are asked; none in a mode that does not act."""
        return tuple(slug for slug, response in responses().items() if self.mode in response.modes)

    def refuses(self, slug: str, bad: BadStep) -> str:
        """Why the cause of a bad step rules a response out, one clause; empty where it does not."""
        slugs, why = REFUSED.get(bad.cause or "", ((), ""))
        return why if slug in slugs else ""
