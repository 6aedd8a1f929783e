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
