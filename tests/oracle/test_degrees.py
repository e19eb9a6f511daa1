"""The highest degree that can be had now: one number, its reasons, and who is told before a run."""

from __future__ import annotations

from tests.for_each import for_each
from tests.oracle.make import assumed, target, work
from tests.oracle.standin import Scenario, running_standin, scenarios
from tests.oracle.standin.readings import servers
from toolkit.app.doctor import doctor
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.model.facts import Facts
from toolkit.model.values import Row


def facts(release: str = "19-ee", *, most: int = 80, **answers: tuple[Row, ...]) -> Facts:
    rows: tuple[Row, ...] = ({"name": "parallel_max_servers", "value": str(most)},)
    return assumed(release, settings=rows + answers.pop("more", ()), **answers)


@for_each(
    ("known", "degree", "reason"),
    [
        (facts(), 40, "parallel_max_servers is 80"),
        (facts(most=0), 1, "parallel_max_servers is 0"),
        (facts("19-se2"), 1, "Standard Edition 2 runs every statement serially"),
        (facts("23-free"), 1, "Free runs every statement serially"),
        (facts(doctor_options=({"parameter": "Parallel execution", "value": "FALSE"},)), 1, "V$OPTION"),
        (facts(doctor_servers=({"server_count": 64, "busy_count": 60},)), 10, "60 servers are busy, 20 free"),
        (facts(doctor_servers=({"server_count": 0, "busy_count": 0, "counted_busy": 76},)), 2, "76 servers"),
        (
            facts(doctor_limits=({"resource_name": "processes", "used_count": 290, "limit_value": "300"},)),
            5,
            "PROCESSES allows 10",
        ),
        (
            facts(
                doctor_session=({"consumer_group": "BATCH"},),
                doctor_directives=({"plan_name": "P", "group_name": "BATCH", "degree_limit": 6},),
            ),
            6,
            "resource plan P allows BATCH degree 6",
        ),
        (facts(doctor_instances=({"instance_number": 1}, {"instance_number": 2})), 80, "on each of 2 instances"),
        (
            facts(
                more=({"name": "parallel_force_local", "value": "TRUE"},),
                doctor_instances=({"instance_number": 1}, {"instance_number": 2}),
            ),
            40,
            "parallel_max_servers is 80",
        ),
        (
            facts(
                server=({"service_name": "xyz_adw_low.adb.oraclecloud.com"},),
                cloud_service=({"cloud_service": "DWCS"},),
            ),
            1,
            "sessions of the service XYZ_ADW_LOW run serially",
        ),
    ],
)  # fmt: skip
def test_the_tightest_limit_is_the_number_and_its_reason_comes_first(
    known: Facts, degree: int, reason: str
) -> None:
    degree_limit = DIALECT.degree_limit(known)
    assert degree_limit.degree == degree
    assert reason in degree_limit.reasons[0][1]
    assert [limit for limit, _ in degree_limit.reasons] == sorted(limit for limit, _ in degree_limit.reasons)


def test_a_directive_of_another_group_limits_nobody_else() -> None:
    known = facts(
        doctor_session=({"consumer_group": "BATCH"},),
        doctor_directives=({"plan_name": "P", "group_name": "ONLINE", "degree_limit": 1},),
    )
    assert DIALECT.degree_limit(known).degree == 40


def test_nothing_read_is_no_number() -> None:
    assert DIALECT.degree_limit(assumed()).degree is None


def test_a_plain_copy_takes_one_set_of_servers_and_a_build_two() -> None:
    assert DIALECT.degree_limit(facts(), work("ctas", 8)).degree == 80
    assert DIALECT.degree_limit(facts(), work("ctas", 8, query="SELECT 1 AS n FROM dual")).degree == 40
    assert DIALECT.degree_limit(facts(), work("index-build", 8)).degree == 40


def test_a_cluster_lends_the_servers_of_all_its_instances() -> None:
    busy = scenarios.enterprise_19c_rac(views={"V$PX_PROCESS": servers(20, 0)})
    with running_standin(busy) as standin:
        found = doctor(target(standin))
    assert found.degree_limit.degree == (2 * 80 - 20) // 2


def test_the_number_of_doctor_is_that_of_the_run() -> None:
    with running_standin(Scenario(max_servers=6)) as standin:
        found = doctor(target(standin))
    assert found.degree_limit.degree == 3
    assert DIALECT.degree_limit(found.facts, work("index-build", 8)).degree == 3
