"""REFRESH MATERIALIZED VIEW as a DBA types it: what it fills, what others read meanwhile, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.cli.conftest import Answer, Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session, guest
from tests.servers.postgresql import Server

__all__ = ["dbatk", "guest", "home"]

pytestmark = pytest.mark.postgresql

Refresh = Callable[..., Answer]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute("CREATE TABLE sales AS SELECT g AS id, g % 10 AS shop FROM generate_series(1, 1000) g")
        opened.execute("CREATE MATERIALIZED VIEW by_shop AS SELECT shop, count(*) AS n FROM sales GROUP BY shop")
        opened.execute('CREATE MATERIALIZED VIEW "Never filled" AS SELECT max(id) AS id FROM sales WITH NO DATA')
        opened.execute("INSERT INTO sales SELECT g, 10 FROM generate_series(1001, 1500) g")
        yield opened


@pytest.fixture
def refresh(dbatk: Dbatk, postgresql_url: str, postgresql_schema: str) -> Refresh:
    def asked(*options: str, view: str = "by_shop", url: str = postgresql_url) -> Answer:
        named = ("--schema", postgresql_schema) if not view else ("--table", f"{postgresql_schema}.{view}")
        return dbatk("mview", "refresh", "-t", url, *named, "--not-production", "--json", *options)

    return asked


def groups(session: Session) -> int:
    (number,) = session.execute("SELECT count(*) FROM by_shop").fetchone() or (0,)
    return int(str(number))


def test_a_view_gets_the_rows_of_its_query(session: Session, refresh: Refresh) -> None:
    answer = refresh()
    assert (answer.status, groups(session)) == (0, 11), answer.err
    assert "ACCESS EXCLUSIVE" in answer.err + answer.out


def test_while_others_read_only_with_a_unique_index_and_rows_to_compare(
    session: Session, refresh: Refresh
) -> None:
    answer = refresh("--online")
    assert (answer.status, groups(session)) == (5, 10)
    assert "has no unique index" in json.loads(answer.out)["error"]["message"]
    session.execute("CREATE UNIQUE INDEX some_of_it ON by_shop (shop) WHERE shop < 5")
    session.execute("CREATE UNIQUE INDEX computed ON by_shop ((shop + 1))")
    assert refresh("--online").status == 5
    session.execute("CREATE UNIQUE INDEX by_shop_key ON by_shop (shop)")
    with session.transaction():
        session.execute("SELECT FROM by_shop")  # a reader that is still there
        answer = refresh("--online", "--lock-wait", "5s")
    assert (answer.status, groups(session)) == (0, 11), answer.err
    answer = refresh("--online", view='"Never filled"')
    assert (answer.status, "never filled" in json.loads(answer.out)["error"]["message"]) == (5, True)


def test_a_reader_in_the_way_is_waited_for_as_long_as_was_said(session: Session, refresh: Refresh) -> None:
    with session.transaction():
        session.execute("SELECT FROM by_shop")
        answer = refresh("--lock-wait", "1s", "--lock-tries", "1")
    assert "trials" in answer.out, answer.out
    (trial,) = json.loads(answer.out)["trials"]
    assert (answer.status, trial["outcome"], trial["error_code"], groups(session)) == (3, "failed", "55P03", 10)


def test_the_views_of_a_schema_are_refreshed_and_no_tables(session: Session, refresh: Refresh) -> None:
    answer = refresh("--concurrency", "2", view="")
    assert answer.status == 0, answer.err
    (trial,) = json.loads(answer.out)["trials"]
    assert len(trial["items"]) == 2
    assert session.execute('SELECT id FROM "Never filled"').fetchall() == [(1500,)]
    assert groups(session) == 11


def test_a_sweep_works_on_the_view_itself_and_says_so(session: Session, refresh: Refresh) -> None:
    session.execute("CREATE UNIQUE INDEX by_shop_key ON by_shop (shop)")
    sweep = ("--factor", "online=no,yes", "--repeat", "2", "--warmup", "0")
    answer = refresh(*sweep)
    assert (answer.status, groups(session)) == (5, 10)
    assert "--on-live-objects" in json.loads(answer.out)["error"]["hint"]
    answer = refresh(*sweep, "--on-live-objects")
    assert (answer.status, len(json.loads(answer.out)["trials"]), groups(session)) == (0, 4, 11), answer.err


def test_the_degree_is_told_by_the_plan_of_the_views_query(session: Session, refresh: Refresh) -> None:
    answer = refresh("--degree", "3")
    (trial,) = json.loads(answer.out)["trials"]
    assert (trial["requested_degree"], trial["granted_degree"], trial["outcome"]) == (3, 1, "downgraded")
    assert "serial plan" in trial["reason"]
    session.execute("ALTER TABLE sales SET (parallel_workers = 2)")
    answer = refresh("--degree", "3", "--setting", "parallel_setup_cost=0", "--setting", "parallel_tuple_cost=0")
    (trial,) = json.loads(answer.out)["trials"]
    assert "serial plan" not in str(trial["reason"])


def test_who_neither_owns_nor_maintains_a_view_is_told_before(
    session: Session, refresh: Refresh, guest: str, postgresql_schema: str
) -> None:
    answer = refresh(url=guest)
    assert (answer.status, groups(session)) == (5, 10), answer.err
    assert "own" in json.loads(answer.out)["error"]["message"]
    major = int(str(session.execute("SHOW server_version_num").fetchone()[0])) // 10000  # type: ignore[index]
    if major >= 17:  # then the privilege is enough, though the table behind it may not be read
        role = f"guest_{postgresql_schema}"[:60]
        session.execute(f"REVOKE SELECT ON sales FROM {role}")
        session.execute(f"GRANT MAINTAIN ON by_shop TO {role}")
        answer = refresh("--degree", "2", url=guest)
        assert (answer.status, groups(session)) in ((0, 11), (3, 11)), answer.err


@pytest.mark.parametrize("name", ["sales", "absent"])
def test_what_is_no_materialized_view_is_refused(session: Session, refresh: Refresh, name: str) -> None:
    answer = refresh(view=name)
    assert answer.status in (2, 5)
    assert name in json.loads(answer.out)["error"]["message"]
