"""How long leases last, and how often a process looks."""

from dataclasses import dataclass

__all__ = ["TurnTimes"]


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """Times of the turn protocol, in seconds: see the settings of the same names."""

    lease: float = 20.0
    renew: float = 2.0
    janitor: float = 5.0
    follow: float = 0.5

    def heard(self, *, here: bool) -> float:
        """How long a turn may take to end once it is cancelled; one of this process is sure to hear of it."""
        return 2 * self.renew + 1 + (self.lease if here else 0)
