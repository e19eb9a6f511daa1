"""Statistics of column groups on PostgreSQL: created, measured on copies, dropped, cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.cli.conftest import Answer, Dbatk, dbatk, home
from tests.postgresql.test_vacuum import Session
from tests.servers.postgresql import Server

__all__ = ["dbatk", "home"]

pytestmark = pytest.mark.postgresql

Extend = Callable[..., Answer]


@pytest.fixture
def session(postgresql_server: Server, postgresql_schema: str) -> Iterator[Session]:
    with postgresql_server.connect() as opened:
        opened.execute(f"SET search_path = {postgresql_schema}")
        opened.execute(
            'CREATE TABLE towns AS SELECT g AS id, g % 50 AS city, g % 50 * 7 AS "Zip" '
            "FROM generate_series(1, 5000) g"
        )
        yield opened


@pytest.fixture
def extend(dbatk: Dbatk, postgresql_url: str, postgresql_schema: str) -> Extend:
    def asked(*options: str, columns: str = 'city,"Zip"') -> Answer:
        of_columns = ("--columns", columns) if columns else ()
        line = (
            "stats",
            "extend",
            "-t",
            postgresql_url,
            "--table",
            f"{postgresql_schema}.towns",
            *of_columns,
        )
        return dbatk(*line, "--not-production", "--json", *options)

    return asked


def known(session: Session) -> dict[str, str]:
    """Return the statistics of the schema, and of which kinds they are filled."""
    rows = session.execute(
        "SELECT s.stxname, array_to_string(s.stxkind, ''), d.stxddependencies IS NOT NULL FROM pg_statistic_ext s "
        "LEFT JOIN pg_statistic_ext_data d ON d.stxoid = s.oid "
        "WHERE s.stxnamespace = current_schema()::regnamespace"
    )
    return {str(name): f"{kinds} {'filled' if filled else 'empty'}" for name, kinds, filled in rows.fetchall()}


def test_a_group_is_created_and_filled_and_the_planner_knows_it(session: Session, extend: Extend) -> None:
    def estimate() -> int:
        (line,) = session.execute('EXPLAIN SELECT * FROM towns WHERE city = 3 AND "Zip" = 21').fetchone() or ("",)
        return int(str(line).split("rows=")[1].split()[0])

    session.execute("ANALYZE towns")
    before = estimate()
    answer = extend("--kinds", "dependencies")
    assert answer.status == 0, answer.err
    assert known(session) == {"towns_city_Zip_stat": "f filled"}
    assert before < 10 and 50 < estimate() < 200, "100 rows match"
    again = extend(columns='"Zip",city')
    assert again.status == 5 and "already (`towns_city_Zip_stat`)" in again.out


def test_a_group_is_dropped_by_its_columns(session: Session, extend: Extend) -> None:
    session.execute('CREATE STATISTICS "Odd name" ON "Zip", city FROM towns')
    assert extend("--drop").status == 0
    assert known(session) == {}
    gone = extend("--drop")
    assert gone.status == 5 and "has no extended statistics of city, Zip" in gone.out


def test_an_expression_has_statistics_found_by_their_name(session: Session, extend: Extend) -> None:
    def estimate() -> int:
        (line,) = session.execute("EXPLAIN SELECT * FROM towns WHERE (id / 5000) = 0").fetchone() or ("",)
        return int(str(line).split("rows=")[1].split()[0])

    session.execute("ANALYZE towns")
    before = estimate()
    answer = extend("--expression", "id / 5000", columns="")
    assert answer.status == 0, answer.out
    (name,) = known(session)
    assert name.startswith("towns_id_5000_") and name.endswith("_stat")
    assert before < 50 and 4000 < estimate() < 5100, "4999 rows match"
    again = extend("--expression", "id / 5000", columns="")
    assert again.status == 5 and f"already (`{name}`)" in again.out
    other = extend("--expression", "id * 5000", "--drop", columns="")
    assert other.status == 5 and "has no extended statistics of (id * 5000) with the name" in other.out
    assert list(known(session)) == [name]
    assert extend("--expression", "id / 5000", "--drop", columns="").status == 0
    assert known(session) == {}


def test_columns_and_expressions_have_statistics_together(session: Session, extend: Extend) -> None:
    both = ("--expression", "id % 7", "--expression", """ "Zip" || ', ' """, "--name", "Both")
    assert extend(*both, "--kinds", "mcv", columns="city").status == 0
    (text,) = session.execute(
        "SELECT pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxname = 'both'"
    ).fetchone() or ("",)
    assert "(mcv) ON city, (id % 7)," in str(text)
    assert extend(columns='city,"Zip"').status == 0, "a group of columns is another thing"
    plain = extend("--drop", columns='city,"Zip"')
    assert plain.status == 0 and list(known(session)) == ["both"]
    otherwise = extend(*both, "--drop", columns='"Zip"')
    assert otherwise.status == 5 and list(known(session)) == ["both"], "its columns are others"
    assert extend(*both, "--drop", columns="city").status == 0
    assert known(session) == {}


def test_it_is_measured_on_copies_which_go_with_their_statistics(session: Session, extend: Extend) -> None:
    answer = extend("--repeat", "2", "--warmup", "0")
    assert answer.status == 0, answer.err
    assert known(session) == {}
    tables = session.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'dbatk%'").fetchone()
    assert tables == (0,)


def test_what_fails_after_it_was_created_leaves_nothing(session: Session, extend: Extend) -> None:
    session.execute("CREATE TABLE flag (id int)")
    session.execute(
        "CREATE FUNCTION fails(int) RETURNS int LANGUAGE plpgsql IMMUTABLE "
        f"SET search_path = {_schema(session)} AS "
        "$$ BEGIN IF EXISTS (SELECT FROM flag) THEN RAISE 'not now'; END IF; RETURN $1; END $$"
    )
    session.execute("CREATE INDEX ON towns (fails(id))")
    session.execute("INSERT INTO flag VALUES (1)")
    answer = extend()
    assert answer.status == 3 and "not now" in answer.out
    assert known(session) == {}
    session.execute("TRUNCATE flag")
    assert extend().status == 0


def _schema(session: Session) -> str:
    (found,) = session.execute("SELECT current_schema()").fetchone() or ("",)
    return str(found)


@pytest.mark.parametrize(
    ("options", "columns", "words"),
    [
        ((), "city", "a column group has two columns at least"),
        ((), "city,city", "`columns` has `city` twice"),
        (("--kinds", "mean"), "city,id", "no statistics of the kind `mean`"),
        (("--drop", "--repeat", "2"), "city,id", "dropping statistics is not measured"),
        (("--drop", "--kinds", "mcv"), "city,id", "dropped with all their kinds"),
        (("--degree", "2"), "city,id", "uses one process"),
        ((), "city,nothing", "nothing"),
        (("--expression", "lower(nothing)"), "", "nothing"),
        (("--expression", "count(*)"), "city", "aggregate"),
        (("--expression", "id", "--expression", "id"), "", "duplicate column"),
        (("--expression", "id, city"), "", "holds more than one expression"),
        (("--expression", "(SELECT 1)"), "", "has a subquery"),
        (("--expression", "id) FROM x; DROP TABLE towns --"), "", "parenthesis"),
        (("--expression", "id % 7", "--kinds", "mcv"), "", "one expression alone have no kinds"),
        (("--drop", "--name", "x"), "city,id", "found by their columns"),
        ((), "", "two columns at least"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    options: tuple[str, ...], columns: str, words: str, session: Session, extend: Extend
) -> None:
    answer = extend(*options, columns=columns)
    assert answer.status in (2, 3, 5) and words in answer.out + answer.err
    assert known(session) == {}
