"""How many parallel servers a statement gets, and what the session remembers of it."""

from __future__ import annotations

from tests.oracle.standin.errors import ora
from tests.oracle.standin.scenario import Scenario
from tests.oracle.standin.state import PARAMETERS, Session


def grant(session: Session, scenario: Scenario, asked: int) -> int:
    """Return the degree a statement gets; 0 asks for the default degree.

    An edition without parallel execution gives 1 without a word. Too few servers give less, also without a word,
    unless PARALLEL_MIN_PERCENT forbids it (ORA-12827).
    """
    if not scenario.parallel or asked == 1:
        return 1
    wanted = asked or int(PARAMETERS["cpu_count"]) * int(PARAMETERS["parallel_threads_per_cpu"])
    there = scenario.max_servers // 2
    if wanted <= there:
        return wanted
    least = int(session.parameters.get("parallel_min_percent", "0"))
    if there * 100 < wanted * least:
        raise ora(12827)
    return max(1, there)


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
