"""The tables, and the same as JSON."""

import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bench.items import ITEMS, Contestant
from bench.rounds import Plan, Results

__all__ = ["as_json", "ceiling_lines", "peer_table", "statement_lines", "table"]

_SHOWN: tuple[Contestant, ...] = ("ours", "raw-tx", "raw-best", "endpoint")
_BOTH: tuple[Contestant, Contestant] = ("ours", "peer")


def table(plan: Plan, results: Results) -> Iterator[str]:
    """A table for each concurrency; throughput in answers a second."""
    shown = " ".join(f"{who:>8}" for who in _SHOWN)
    for concurrency in plan.concurrency:
        yield ""
        yield (
            f"concurrency {concurrency:<22} {shown}  {'ratio':>5} {'spread':>11}  {'at least':<18}"
            f" {'to endpoint':>11}  cpu ms: ours, theirs, endpoint"
        )
        for letter in plan.items:
            yield _line(letter, concurrency, results)


def _line(letter: str, concurrency: int, results: Results) -> str:
    item = ITEMS[letter]
    asked = [who if who in item.contestants else None for who in _SHOWN]
    rates = " ".join(f"{results.rate(letter, concurrency, who):8.1f}" if who else " " * 8 for who in asked)
    ratios = results.ratios(letter, concurrency, item.against)
    ratio = median(ratios)
    budget = f"{item.at_least:.2f} of {item.against}"
    measured: tuple[Contestant, ...] = ("ours", item.against) + (() if item.writes else ("endpoint",))
    cpu = " ".join(f"{results.cpu_ms(letter, concurrency, who):6.2f}" for who in measured)
    over_http = "" if item.writes else f"{median(results.ratios(letter, concurrency, 'endpoint')):.2f}"
    return (
        f"{letter} {item.title:<32} {rates}  {ratio:5.2f} {min(ratios):5.2f}-{max(ratios):5.2f}"
        f"  {budget:<18} {over_http:>11}  {cpu}{'' if ratio >= item.at_least else '  MISSED'}"
    )


def peer_table(plan: Plan, results: Results) -> Iterator[str]:
    """Ours beside the peer, where there is one; there is no budget for it."""
    for concurrency in plan.concurrency if plan.has_peer else ():
        yield ""
        yield (
            f"concurrency {concurrency:<22} {'ours':>8} {'peer':>8}  {'ratio':>5} {'spread':>11}"
            "  cpu ms, and theirs"
        )
        for letter in plan.items:
            if "peer" in plan.contestants(letter):
                yield _peer_line(letter, concurrency, results)


def _peer_line(letter: str, concurrency: int, results: Results) -> str:
    ours, peer = (results.rate(letter, concurrency, who) for who in _BOTH)
    cpu, theirs = (results.cpu_ms(letter, concurrency, who) for who in _BOTH)
    ratios = results.ratios(letter, concurrency, "peer")
    return (
        f"{letter} {ITEMS[letter].title:<32} {ours:8.1f} {peer:8.1f}  {median(ratios):5.2f} "
        f"{min(ratios):5.2f}-{max(ratios):5.2f}  {cpu:6.2f} {theirs:6.2f}"
    )


def statement_lines(counted: dict[str, tuple[dict[str, int], int]]) -> Iterator[str]:
    """What requests cost in statements, beside what they may cost."""
    yield ""
    yield f"{'statements':<34} {'asked':>5} {'allowed':>7}"
    for title, (counts, allowed) in counted.items():
        total = sum(counts.values())
        names = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
        yield f"{title:<34} {total:5} {allowed:7}  {names}{'' if total <= allowed else '  MISSED'}"


def ceiling_lines(ceilings: dict[int, dict[str, float]]) -> Iterator[str]:
    """What the client and the server can do where there is nothing to do."""
    yield ""
    for concurrency, rates in ceilings.items():
        told = ", ".join(f"{what} {rate:,.0f}/s" for what, rate in rates.items())
        yield f"ceilings at concurrency {concurrency}: {told}"


def as_json(
    plan: Plan,
    results: Results,
    counted: dict[str, tuple[dict[str, int], int]],
    ceilings: dict[int, dict[str, float]],
    **more: Any,
) -> dict[str, Any]:
    """Everything, run by run."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "loadAverage": os.getloadavg(),
        **more,
        "plan": asdict(plan),
        "ceilings": ceilings,
        "statements": {
            title: {"counts": counts, "allowed": allowed} for title, (counts, allowed) in counted.items()
        },
        "items": [
            {
                "item": letter,
                "title": ITEMS[letter].title,
                "concurrency": concurrency,
                "against": ITEMS[letter].against,
                "atLeast": ITEMS[letter].at_least,
                "ratio": median(results.ratios(letter, concurrency, ITEMS[letter].against)),
                "runs": {
                    who: [asdict(run) for run in results.runs[letter, concurrency, who]]
                    for who in plan.contestants(letter)
                },
            }
            for concurrency in plan.concurrency
            for letter in plan.items
        ],
    }
