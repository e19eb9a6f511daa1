"""How many parallel servers a statement gets from the pool, and what the session remembers of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.standin.errors import ora

if TYPE_CHECKING:
    from tests.oracle.standin.scenario import Scenario
    from tests.oracle.standin.state import Session, State


def grant(session: Session, state: State, asked: int, sets: int = 2) -> int:
    """Return the degree a statement gets; 0 asks for the default degree.

    An edition without parallel execution gives 1 without a word. The directive of a consumer group and a load that
    PARALLEL_ADAPTIVE_MULTI_USER sees reduce what is asked for, without a word too (VLDBG, how the degree is
    determined). Too few servers in the pool give less, unless PARALLEL_MIN_PERCENT forbids it (ORA-12827).
    """
    scenario = state.scenario
    if not scenario.parallel or asked == 1:
        return 1
    wanted = asked or int(_parameter(scenario, "cpu_count")) * int(
        _parameter(scenario, "parallel_threads_per_cpu")
    )
    session.asked = max(session.asked, wanted)
    allowed = min(wanted, scenario.groups.get(session.group) or wanted)
    there = free(state, but=session) // sets
    if _parameter(scenario, "parallel_adaptive_multi_user") == "TRUE" and scenario.busy_servers:
        allowed = max(1, allowed * there * sets // max(1, scenario.max_servers))
    if allowed <= there:
        return allowed
    least = int(session.parameters.get("parallel_min_percent", "0"))
    if there * 100 < allowed * least:
        raise ora(12827)
    return max(1, there)


def free(state: State, but: Session | None = None) -> int:
    """Return the servers of the pool that nobody uses."""
    ours = sum(each.running for each in list(state.sessions.values()) if each is not but and each.running > 1)
    return max(0, state.scenario.max_servers - state.scenario.busy_servers - ours)


def _parameter(scenario: Scenario, name: str) -> str:
    from tests.oracle.standin.state import PARAMETERS

    return str({**PARAMETERS, **scenario.parameters}[name]).upper()


def downgrade(asked: int, degree: int) -> str | None:
    """Return the counter of V$SYSSTAT that a parallel operation moves; None for a serial one."""
    if asked <= 1:
        return None
    lost = 100 * (asked - degree) // asked
    if lost <= 0:
        return "Parallel operations not downgraded"
    if degree <= 1:
        return "Parallel operations downgraded to serial"
    least = next(least for least in (75, 50, 25, 1) if lost >= least or least == 1)
    return f"Parallel operations downgraded {least} to {({75: 99, 50: 75, 25: 50, 1: 25})[least]} pct"


def remember(session: Session, scenario: Scenario, kind: str, degree: int, sets: int) -> None:
    """Set what V$PQ_SESSTAT tells of the last statement and of the session."""
    session.last = {}
    if degree <= 1:
        return
    threads = {"Servers": degree * sets, "Server Sets": sets}
    if scenario.number < (23, 26):
        threads = {"Server Threads": degree * sets, "DOP": degree, "Slave Sets": sets}
    session.last = {kind: 1, "DFO Trees": 1, "Allocation Height": degree, "Allocation Width": 1, **threads}
    for name, value in session.last.items():
        session.total[name] = session.total.get(name, 0) + value
