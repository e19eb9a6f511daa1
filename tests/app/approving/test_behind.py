"""What stands behind the names of a plan is approved with them, for a role with few rights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.app.approving.test_complete import made
from tests.servers.postgresql import Server
from tests.tiers import thinned
from toolkit import resources
from toolkit.app.approving import approve, check, subject_of_plan
from toolkit.app.approving.making import Subject, subject_of_experiment
from toolkit.app.approving.naming import SQL_KEYS, TRANSACTIONS
from toolkit.design.file import load_experiment
from toolkit.errors import ToolkitError
from toolkit.model.operations import operations
from toolkit.model.options import OptionKind
from toolkit.rendering import sql_file
from toolkit.store import Store

STEPS = '''
[[step]]
name = "load"
operation = "insert"
source = "b_app.src"
table = "b_app.dest"
[[step]]
name = "copy"
operation = "ctas"
query = "SELECT id, b_app.f(id) AS g FROM b_app.seen AS s WHERE b_app.defaulted(1)::b_app.short > 'a'"
only_if = {sql = "SELECT b_app.total(id) FROM b_app.seen", at_least = 1}
table = "b_app.copied"
[[step]]
name = "more"
operation = "insert"
source = "b_app.src"
table = "b_app.copied"
[[step]]
name = "others"
operation = "insert"
query = """SELECT id, (SELECT max(id) FROM b_app.summary)::text FROM b_other.copied
 UNION ALL SELECT id, nextval('b_app.numbers')::text FROM b_app.matched"""
table = "b_app.dest"
'''
OBJECTS = (
    "CREATE TABLE b_app.src AS SELECT 1 AS id, 'x' AS t",
    "CREATE TABLE b_app.secret (id int, t text)",
    "CREATE TABLE b_app.dest (id int, t text DEFAULT 'x')",
    "CREATE TABLE b_app.base (id int)",
    "CREATE VIEW b_app.inner AS SELECT id FROM b_app.base",
    "CREATE VIEW b_app.middle AS SELECT id FROM b_app.inner",
    "CREATE VIEW b_app.seen AS SELECT id FROM b_app.src UNION ALL SELECT id FROM b_app.middle",
    "CREATE FUNCTION b_app.f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1'",
    "CREATE FUNCTION b_app.own(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
    "CREATE DOMAIN b_app.code AS text",
    "CREATE DOMAIN b_app.short AS b_app.code",
    "ALTER TABLE b_app.dest ADD c b_app.short",
    "CREATE FUNCTION b_app.defaulted(int, b text DEFAULT 'x') RETURNS text LANGUAGE sql AS 'SELECT b'",
    "CREATE TYPE b_app.row AS (a int)",
    "CREATE AGGREGATE b_app.total(int) (SFUNC = int4pl, STYPE = int)",
    "CREATE FUNCTION b_app.adds(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2'",
    "CREATE AGGREGATE b_app.summed(int) (SFUNC = b_app.adds, STYPE = int)",
    "CREATE VIEW b_app.summary AS SELECT b_app.summed(id) AS id FROM b_app.base",
    "CREATE FUNCTION b_app.same(int, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "CREATE TABLE b_other.copied (id int)",
    "CREATE OPERATOR b_third.=== (LEFTARG = int, RIGHTARG = text, FUNCTION = b_app.same)",
    "CREATE VIEW b_app.matched AS SELECT id FROM b_app.src WHERE id OPERATOR(b_third.===) t",
    "ALTER TABLE b_app.base ADD PRIMARY KEY (id)",
    "CREATE TABLE b_app.child (id int PRIMARY KEY REFERENCES b_app.base ON DELETE CASCADE)",
    "CREATE TABLE b_app.grandchild (id int REFERENCES b_app.child ON UPDATE SET NULL)",
    "CREATE SEQUENCE b_app.numbers",
)
TRIGGER = (
    "CREATE FUNCTION b_app.tr() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN INSERT INTO b_app.secret VALUES (1, NULL); RETURN new; END'; "
)
EVENT_TRIGGER = (
    "CREATE FUNCTION b_app.ev() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'; "
    "CREATE EVENT TRIGGER b_ev ON table_rewrite EXECUTE FUNCTION b_app.ev()"
)
WHOLE = (
    "CREATE TABLE b_app.whole (id int PRIMARY KEY) PARTITION BY RANGE (id); "
    "CREATE TABLE b_app.part PARTITION OF b_app.whole DEFAULT"
)
PARTITIONED = (
    "DROP TABLE b_app.dest; CREATE TABLE b_app.dest (id int, t text) PARTITION BY RANGE (id); "
    "CREATE TABLE b_app.part PARTITION OF b_app.dest DEFAULT"
)


CATALOGUE = (
    "pg_attrdef, pg_attribute, pg_class, pg_constraint, pg_depend, pg_index, pg_namespace, pg_policy, pg_proc, "
    "pg_rewrite, pg_statistic_ext, pg_trigger, pg_type"
)
DUCKDB_TRIGGER = "CREATE TRIGGER t AFTER INSERT ON"
FIRED = "REFERENCING NEW TABLE AS n FOR EACH STATEMENT INSERT INTO s.named SELECT 8 FROM n"


@dataclass
class Plan:
    """A plan of a role that owns nothing but a schema; each look reads the plan anew."""

    url: str
    store: Store
    folder: Path

    def subject(self) -> Subject:
        return subject_of_plan(self.folder / "n.toml", *made(self.url, STEPS, self.store, self.folder))

    def approve(self) -> None:
        approve(self.subject(), self.store)

    def difference(self) -> str:
        """Return what a check says that differs; nothing where it passes."""
        try:
            check(self.subject(), self.store)
        except ToolkitError as error:
            assert error.code == "TK-0313"
            return error.message
        return ""


@pytest.fixture
def plan(postgresql_server: Server, store: Store, tmp_path: Path) -> Iterator[Plan]:
    with postgresql_server.connect() as session:
        session.execute("CREATE ROLE b_job LOGIN")
        try:
            with (
                postgresql_server.schema("b_other"),
                postgresql_server.schema("b_third"),
                postgresql_server.schema("b_app", *OBJECTS),
            ):
                session.execute("GRANT ALL ON SCHEMA b_app, b_other, b_third TO b_job")
                session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app, b_other TO b_job")
                session.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA b_app TO b_job")
                url = postgresql_server.url.replace(f"{postgresql_server.user}@", "b_job@")
                yield Plan(url, store, tmp_path)
        finally:
            session.execute("DROP OWNED BY b_job; DROP ROLE b_job")


@pytest.mark.thin(3)
@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "ALTER TABLE b_app.dest RENAME TO old; CREATE VIEW b_app.dest AS SELECT * FROM b_app.secret",
            "and is `view b_app.dest, behind it ",
        ),
        ("CREATE RULE r AS ON INSERT TO b_app.dest DO ALSO INSERT INTO b_app.secret VALUES (1)", "`b_app.dest`"),
        (f"{TRIGGER}CREATE TRIGGER t AFTER INSERT ON b_app.dest EXECUTE FUNCTION b_app.tr()", "`b_app.dest`"),
        ("ALTER TABLE b_app.dest ALTER t SET DEFAULT b_app.f(1)::text", "`b_app.dest`"),
        ("ALTER TABLE b_app.dest ADD CHECK (b_app.f(id) > 0)", "`b_app.dest`"),
        ("ALTER DOMAIN b_app.code ADD CHECK (b_app.own(1) > 0) NOT VALID", "`b_app.dest`"),
        ("ALTER DOMAIN b_app.code ADD CHECK (value <> 'x') NOT VALID", "was `type b_app.short` and is"),
        ("CREATE INDEX ON b_app.dest (b_app.own(id))", "`b_app.dest`"),
        ("CREATE INDEX ON b_app.dest (id) WHERE b_app.own(id) > 0", "`b_app.dest`"),
        ("CREATE STATISTICS b_app.st ON (b_app.own(id)), t FROM b_app.dest", "`b_app.dest`"),
        ("ALTER TABLE b_app.dest ADD g int GENERATED ALWAYS AS (b_app.own(id)) STORED", "`b_app.dest`"),
        (
            "CREATE FUNCTION b_app.gt(int, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
            "CREATE OPERATOR b_app.> (LEFTARG = int, RIGHTARG = text, FUNCTION = b_app.gt)",
            "`operators and casts`",
        ),
        (
            "CREATE FUNCTION b_app.cast(b_app.row) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; "
            "CREATE CAST (b_app.row AS text) WITH FUNCTION b_app.cast",
            "`operators and casts`",
        ),
        (
            "CREATE OR REPLACE FUNCTION b_app.defaulted(int, b text DEFAULT b_app.own(1)::text) RETURNS text "
            "LANGUAGE sql AS 'SELECT b'",
            "was `function b_app.defaulted(integer, b text), body ",
        ),
        (
            "CREATE OR REPLACE AGGREGATE b_app.total(int) (SFUNC = int4mul, STYPE = int)",
            "was `function b_app.total(integer), body ",
        ),
        ("ALTER TABLE b_app.src ENABLE ROW LEVEL SECURITY", "`b_app.src`"),
        ("ALTER TABLE b_app.base ENABLE ROW LEVEL SECURITY", "`b_app.base`"),
        (
            "CREATE OR REPLACE VIEW b_app.inner AS SELECT b_app.own(id) AS id FROM b_app.base",
            "was `view b_app.inner, behind it ",
        ),
        (PARTITIONED, "and is `partitioned table b_app.dest`"),
        (
            "CREATE OR REPLACE VIEW b_app.seen AS SELECT id + 1 AS id FROM b_app.src",
            "was `view b_app.seen, behind it ",
        ),
        (
            "CREATE OR REPLACE FUNCTION b_app.f(int) RETURNS int LANGUAGE sql AS 'SELECT 7'",
            "was `function b_app.f(integer), body ",
        ),
        ("CREATE FUNCTION b_app.f(bigint) RETURNS int LANGUAGE sql AS 'SELECT 7'", "`b_app.f`"),
        (EVENT_TRIGGER, "was not set and is `1 of them, "),
        (
            "CREATE OR REPLACE FUNCTION b_app.adds(int, int) RETURNS int LANGUAGE sql AS 'SELECT 7'",
            "was `view b_app.summary, behind it ",
        ),
        (
            "CREATE OR REPLACE FUNCTION b_app.same(int, text) RETURNS boolean LANGUAGE sql AS 'SELECT false'",
            "`operators and casts`",
        ),
        (
            "ALTER TABLE b_other.copied RENAME TO old; CREATE VIEW b_other.copied AS SELECT b_app.own(1) AS id",
            "was `table b_other.copied` and is `view b_other.copied, behind it ",
        ),
        (
            "CREATE VIEW b_app.copied AS SELECT b_app.own(1) AS id, 'x' AS t",
            "was not set and is `view b_app.copied, behind it ",
        ),
        (
            f"CREATE TABLE b_app.copied (id int, t text); {TRIGGER}"
            "CREATE TRIGGER t AFTER INSERT ON b_app.copied EXECUTE FUNCTION b_app.tr()",
            "was not set and is `table b_app.copied, behind it ",
        ),
        (
            f"{TRIGGER}CREATE TRIGGER t AFTER DELETE ON b_app.child EXECUTE FUNCTION b_app.tr()",
            "was not set and is `table b_app.child, behind it ",
        ),
        (
            f"{TRIGGER}CREATE TRIGGER t AFTER UPDATE ON b_app.grandchild EXECUTE FUNCTION b_app.tr()",
            "was not set and is `table b_app.grandchild, behind it ",
        ),
        (
            "ALTER TABLE b_app.child ADD CHECK (b_app.own(id) > 0)",
            "was not set and is `table b_app.child, behind it ",
        ),
        (
            "CREATE TABLE b_app.plain () INHERITS (b_app.src); CREATE TABLE b_app.heir () INHERITS (b_app.src); "
            f"{TRIGGER}CREATE TRIGGER t BEFORE DELETE ON b_app.heir FOR EACH ROW EXECUTE FUNCTION b_app.tr()",
            "was not set and is `table b_app.heir, behind it ",
        ),
        (
            "DROP SEQUENCE b_app.numbers; CREATE VIEW b_app.numbers AS SELECT 1 AS id",
            "was `sequence b_app.numbers` and is `view b_app.numbers, behind it ",
        ),
        ("ALTER ROLE b_job SET work_mem = '8MB'", "set_for_it of"),
        ("ALTER ROLE b_job SET search_path = b_app", "search_path of"),
    ],
    ids=[
        "view", "rule", "trigger", "default", "check", "check of a domain", "type",
        "index", "partial index", "extended statistics", "generated", "operator", "cast", "default of an argument",
        "aggregate", "row security", "row security of a view", "view of a view", "partitions",
        "text of a view", "body", "overload", "event trigger", "aggregate of a view", "operator of a view",
        "name of what is made elsewhere", "view in place of what is made", "trigger on what is made",
        "trigger that a key reaches", "trigger that two keys reach", "check that a key reaches",
        "trigger of a table that inherits", "name in a literal", "setting", "search path",
    ],
)  # fmt: skip
def test_what_changes_behind_a_name_is_refused(
    plan: Plan, postgresql_server: Server, change: str, said: str
) -> None:
    plan.approve()
    assert plan.difference() == ""
    with postgresql_server.connect() as session:
        session.execute(change.encode())
        if "work_mem" not in change and "search_path" not in change:
            session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app TO b_job")
        difference = plan.difference()
        assert said in difference, difference


@pytest.mark.postgresql
def test_a_trigger_of_a_partition_is_behind_the_table(plan: Plan, postgresql_server: Server) -> None:
    with postgresql_server.connect() as session:
        session.execute(PARTITIONED.encode())
        session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app TO b_job")
        plan.approve()
        session.execute("CREATE TABLE b_app.next PARTITION OF b_app.dest FOR VALUES FROM (1) TO (2)")
        assert plan.difference() == "", "a new partition is the work of every day"
        made_there = "CREATE TRIGGER t BEFORE INSERT ON b_app.part FOR EACH ROW EXECUTE FUNCTION b_app.tr()"
        session.execute(f"{TRIGGER}{made_there}".encode())
        assert "`b_app.dest`" in plan.difference()


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE b_app.part ADD CHECK (b_app.own(id) > 0)",
        "CREATE INDEX ON b_app.part (b_app.own(id))",
        "CREATE OR REPLACE FUNCTION b_app.key(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 0'",
    ],
)
def test_an_own_function_that_a_partition_calls_is_behind_the_table(
    plan: Plan, postgresql_server: Server, change: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute("CREATE FUNCTION b_app.key(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
        session.execute(PARTITIONED.replace("(id)", "(b_app.key(id))").encode())
        session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app TO b_job")
        plan.approve()
        assert plan.difference() == ""
        session.execute(change.encode())
        assert "`b_app.dest`" in plan.difference()


UNNAMED = (
    "CREATE FUNCTION b_app.cmp(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a - b'; "
    "CREATE OPERATOR CLASS b_app.ordered FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, "
    "OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 b_app.cmp(int, int); CREATE INDEX ON b_app.dest (id b_app.ordered); "
    "CREATE FUNCTION b_app.gap(a float8, b float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT a - b'; "
    "CREATE TYPE b_app.span AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = b_app.gap); "
    "ALTER TABLE b_app.dest ADD s b_app.span; CREATE INDEX ON b_app.dest USING gist (s); "
    "CREATE DOMAIN b_app.inside AS int DEFAULT b_app.own(1); CREATE TYPE b_app.pair AS (a b_app.inside); "
    "ALTER TABLE b_app.dest ADD p b_app.pair[]"
)


@pytest.mark.thin(3)
@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("CREATE OR REPLACE FUNCTION b_app.cmp(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT b - a'",
         "`operators and casts`"),
        ("CREATE OR REPLACE FUNCTION b_app.gap(a float8, b float8) RETURNS float8 LANGUAGE sql IMMUTABLE "
         "AS 'SELECT b - a'", "`operators and casts`"),
        ("CREATE OR REPLACE FUNCTION b_app.own(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 7'",
         "`domains`"),
        ("ALTER DOMAIN b_app.short SET DEFAULT b_app.own(1)", "`domains`"),
        ("ALTER DOMAIN b_app.inside ADD CHECK (b_app.own(value) > 0) NOT VALID", "`domains`"),
    ],
    ids=["operator class", "distance of a range", "function of a default", "default of a domain",
         "check of a domain in an array of a composite type"],
)  # fmt: skip
def test_what_is_called_without_a_name_is_refused_when_it_changes(
    plan: Plan, postgresql_server: Server, change: str, said: str
) -> None:
    with postgresql_server.connect() as session:
        session.execute(UNNAMED.encode())
        plan.approve()
        assert plan.difference() == ""
        session.execute(change.encode())
        assert said in plan.difference()


COPY = """
[[step]]
name = "copy"
operation = "ctas"
query = "{query}"
table = "b_app.copied"
"""
HIDDEN = "ALTER TABLE b_app.src ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON b_app.src USING (t = 'x')"
NUMBERED = "CREATE OR REPLACE FUNCTION b_app.numbered(b_app.src) RETURNS int LANGUAGE sql STABLE AS 'SELECT {}'"
WORDS = "CREATE TEXT SEARCH CONFIGURATION b_app.words (COPY = simple)"
NOTED = (
    "DROP TABLE b_app.dest; CREATE TABLE b_app.dest (id int) PARTITION BY RANGE (id); "
    f"CREATE TABLE b_app.part PARTITION OF b_app.dest DEFAULT; {TRIGGER}"
    "CREATE TRIGGER t BEFORE INSERT ON b_app.part FOR EACH ROW EXECUTE FUNCTION b_app.tr()"
)
PLANTED = "CREATE FUNCTION b_third.{} RETURNS text LANGUAGE sql AS 'SELECT NULL::text'"


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("before", "query", "change", "said"),
    thinned(
        [
            (NUMBERED.format(1), "SELECT s.numbered FROM b_app.src AS s", NUMBERED.format(2), "`numbered`"),
            (NUMBERED.format(1), "SELECT (s).numbered FROM b_app.src AS s", NUMBERED.format(2), "`numbered`"),
            ("", "SELECT id FROM b_app.src", PLANTED.format("concat_ws(text, text)"), "names of PostgreSQL's own"),
            ("", "SELECT id FROM b_app.src", PLANTED.format("lower(varchar)"), "names of PostgreSQL's own"),
            (HIDDEN, "SELECT id FROM b_app.src", "ALTER ROLE b_job BYPASSRLS", "`b_app.src`"),
            (HIDDEN, "SELECT id FROM b_app.src", "ALTER TABLE b_app.src OWNER TO b_job", "`b_app.src`"),
            (
                f"{HIDDEN}; CREATE VIEW b_app.v AS SELECT id FROM b_app.src; GRANT SELECT ON b_app.v TO b_job",
                "SELECT id FROM b_app.v",
                "ALTER VIEW b_app.v SET (security_invoker = true)",
                "`b_app.v`",
            ),
            (
                "CREATE FUNCTION b_app.d() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
                "SELECT b_app.d() AS id",
                "ALTER FUNCTION b_app.d() OWNER TO b_job",
                "`b_app.d`",
            ),
            (
                NOTED,
                "SELECT id FROM b_app.dest",
                "ALTER FUNCTION b_app.tr() SET search_path = b_third",
                "`b_app.dest`",
            ),
            (
                "CREATE TABLE b_app.bill (id int REFERENCES b_app.base)",
                "SELECT id FROM b_app.base",
                "ALTER TABLE b_app.bill DROP CONSTRAINT bill_id_fkey, "
                "ADD FOREIGN KEY (id) REFERENCES b_app.base ON DELETE CASCADE",
                "`foreign keys`",
            ),
            (
                "ALTER TABLE b_app.grandchild ADD PRIMARY KEY (id)",
                "SELECT id FROM b_app.base",
                "CREATE TABLE b_app.bill (id int REFERENCES b_app.grandchild ON DELETE CASCADE)",
                "`foreign keys`",
            ),
            (
                f"{WHOLE}; CREATE TABLE b_app.bill (id int REFERENCES b_app.whole)",
                "SELECT id FROM b_app.part",
                "ALTER TABLE b_app.bill DROP CONSTRAINT bill_id_fkey, "
                "ADD FOREIGN KEY (id) REFERENCES b_app.whole ON DELETE CASCADE",
                "`foreign keys`",
            ),
            *(
                (
                    f"{WHOLE}; {TRIGGER}CREATE TRIGGER t AFTER INSERT ON b_app.whole FOR EACH ROW "
                    "EXECUTE FUNCTION b_app.tr(); ALTER TABLE b_app.part DISABLE TRIGGER t",
                    f"SELECT id FROM b_app.{named}",
                    "ALTER TABLE b_app.part ENABLE TRIGGER t",
                    f"`b_app.{named}`",
                )
                for named in ("part", "whole")
            ),
            (
                "CREATE COLLATION b_app.c (locale = 'C')",
                "SELECT id FROM b_app.src WHERE t < 'x' COLLATE b_app.c",
                "DROP COLLATION b_app.c; CREATE COLLATION b_app.c (locale = 'POSIX')",
                "`b_app.c`",
            ),
            (
                WORDS,
                "SELECT id FROM b_app.src WHERE to_tsvector('b_app.words', t) @@ 'x'",
                "ALTER TEXT SEARCH CONFIGURATION b_app.words ALTER MAPPING FOR asciiword WITH english_stem",
                "`b_app.words`",
            ),
            (
                "CREATE TYPE b_app.mood AS ENUM ('x', 'y')",
                "SELECT id FROM b_app.src WHERE 'x'::b_app.mood < 'y'",
                "ALTER TYPE b_app.mood ADD VALUE 'z' BEFORE 'x'",
                "`b_app.mood`",
            ),
            (
                "",
                "SELECT id FROM b_app.src WHERE row(1)::b_app.row IS NOT NULL",
                "ALTER TYPE b_app.row ADD ATTRIBUTE b int",
                "`b_app.row`",
            ),
            (
                "CREATE FOREIGN DATA WRAPPER b_w; CREATE SERVER b_far FOREIGN DATA WRAPPER b_w OPTIONS (host 'x')",
                "SELECT id FROM b_app.src WHERE t = 'b_far'",
                "ALTER SERVER b_far OPTIONS (SET host 'y')",
                "`b_far`",
            ),
            (
                "",
                "SELECT id FROM b_app.src",
                "CREATE CAST (b_app.row AS text) WITH INOUT",
                "`operators and casts`",
            ),
            (
                f"CREATE ROLE b_all; {HIDDEN}; CREATE POLICY q ON b_app.src TO b_all USING (true)",
                "SELECT id FROM b_app.src",
                "GRANT b_all TO b_job",
                "`b_app.src`",
            ),
            (
                "CREATE FOREIGN DATA WRAPPER b_w; CREATE SERVER b_far FOREIGN DATA WRAPPER b_w; "
                "DROP TABLE b_app.dest; CREATE TABLE b_app.dest (id int) PARTITION BY RANGE (id)",
                "SELECT id FROM b_app.dest",
                "CREATE FOREIGN TABLE b_app.there PARTITION OF b_app.dest DEFAULT SERVER b_far",
                "`b_app.dest`",
            ),
        ],
        3,
    ),
)
def test_what_decides_what_a_query_means_is_approved(
    plan: Plan, postgresql_server: Server, before: str, query: str, change: str, said: str
) -> None:
    def subject() -> Subject:
        steps = COPY.format(query=query)
        return subject_of_plan(plan.folder / "n.toml", *made(plan.url, steps, plan.store, plan.folder))

    with postgresql_server.connect() as session:
        session.execute("ALTER ROLE b_job SET search_path = b_third, b_app")
        session.execute(before.encode())
        session.execute("GRANT SELECT ON ALL TABLES IN SCHEMA b_app TO b_job")
        approve(subject(), plan.store)
        check(subject(), plan.store)
        session.execute(change.encode())
        with pytest.raises(ToolkitError) as caught:
            check(subject(), plan.store)
        session.execute("DROP FOREIGN DATA WRAPPER IF EXISTS b_w CASCADE; DROP POLICY IF EXISTS q ON b_app.src")
        session.execute("DROP ROLE IF EXISTS b_all")
    assert said in caught.value.message


@pytest.mark.postgresql
def test_an_index_with_a_function_that_the_plan_names_is_not_behind_the_table(
    plan: Plan, postgresql_server: Server
) -> None:
    plan.approve()
    with postgresql_server.connect() as session:
        session.execute("CREATE INDEX ON b_app.src (b_app.f(id)); CREATE INDEX ON b_app.dest (lower(t))")
    assert plan.difference() == ""


@pytest.mark.postgresql
def test_what_other_jobs_make_anew_and_what_the_plan_makes_is_the_same(
    plan: Plan, postgresql_server: Server
) -> None:
    plan.approve()
    with postgresql_server.connect() as session:
        session.execute("DROP TABLE b_other.copied; DROP SCHEMA b_app CASCADE; CREATE SCHEMA b_app")
        session.execute("DROP OPERATOR IF EXISTS b_third.=== (int, text); GRANT ALL ON SCHEMA b_app TO b_job")
        for text in (*OBJECTS, "CREATE TABLE b_app.copied AS SELECT 1 AS id, 'x' AS t"):
            session.execute(text.encode())
        session.execute("CREATE INDEX ON b_app.src (id)")
        session.execute("ALTER TABLE b_app.src ADD COLUMN further int")
        session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app TO b_job")
    assert plan.difference() == ""


FACTORS = """
[experiment]
target = "p"
operation = "insert"
source = "b_app.src"
table = "b_app.dest"
[factors]
degree = [1]
[[factor]]
name = "thing"
levels = ["x"]
read_sql = "SELECT b_app.own(1)"
apply_sql = "SELECT b_app.f('{level}')"
undo_sql = "SELECT b_app.defaulted('{before}')"
"""


@pytest.mark.postgresql
def test_the_names_in_the_statements_of_a_factor_are_approved(plan: Plan) -> None:
    file = plan.folder / "e.toml"
    file.write_text(FACTORS)
    subject = subject_of_experiment(file, load_experiment(file), plan.subject().works[0].resolved)
    named = approve(subject, plan.store).approved.databases["p"]
    assert {"name `b_app.own`", "name `b_app.f`", "name `b_app.defaulted`"} <= set(named)


LATER = """
[[step]]
name = "scrub"
operation = "purge"
table = "b_app.dest"
where = "id < 7"
set = ["t = b_app.f(id)::text"]
[[step]]
name = "move"
operation = "purge"
table = "b_app.dest"
where = "id < 7"
archive_to = "b_app.base"
[[step]]
name = "work"
operation = "workload"
transactions = "tx.toml"
users = 1
"""
USERS = """
[[transaction]]
name = "look"
sql = "SELECT b_app.own(:id)"
[transaction.parameters]
id = {column = "id", of = "b_app.src"}
"""


@pytest.mark.postgresql
def test_the_names_in_assignments_archives_and_transactions_are_approved(plan: Plan) -> None:
    (plan.folder / "tx.toml").write_text(USERS)
    subject = subject_of_plan(plan.folder / "n.toml", *made(plan.url, LATER, plan.store, plan.folder))
    (named,) = approve(subject, plan.store).approved.databases.values()
    assert {"name `b_app.f`", "name `b_app.base`", "name `b_app.own`", "name `b_app.src`"} <= set(named)


WHOLE = """
[[step]]
name = "rebuild"
operation = "index-rebuild"
schema = ["b_app"]
"""


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "CREATE OR REPLACE FUNCTION b_app.own(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 8'",
            "was `1 own",
        ),
        ("CREATE STATISTICS b_app.st ON (b_app.f(id)), t FROM b_app.dest", "and is `2 own"),
        ("ALTER TABLE b_app.dest ADD CHECK (b_app.f(id) > 0) NOT VALID", "and is `2 own"),  # `constraint-validate`
        ("CREATE TABLE b_app.more (id int); CREATE INDEX ON b_app.more (id)", ""),
    ],
)
def test_what_the_indexes_statistics_and_checks_of_a_whole_schema_call_is_approved(
    plan: Plan, postgresql_server: Server, change: str, said: str
) -> None:
    def subject() -> Subject:
        return subject_of_plan(plan.folder / "n.toml", *made(plan.url, WHOLE, plan.store, plan.folder))

    with postgresql_server.connect() as session:
        session.execute("CREATE INDEX ON b_app.dest (b_app.own(id))")
        approve(subject(), plan.store)
        check(subject(), plan.store)
        session.execute(change.encode())
    if not said:
        check(subject(), plan.store)
        return
    with pytest.raises(ToolkitError) as caught:
        check(subject(), plan.store)
    assert said in caught.value.message and "name `b_app.*`" in caught.value.message


REFRESH = """
[[step]]
name = "refresh"
operation = "mview-refresh"
schema = "b_app"
"""


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "CREATE MATERIALIZED VIEW b_app.kept AS SELECT b_app.f(1) AS id",
            "and is `materialized view b_app.kept, ",
        ),
        (
            "CREATE OR REPLACE VIEW b_app.inner AS SELECT b_app.own(id) AS id FROM b_app.base",
            "was `view b_app.inner, ",
        ),
        ("CREATE TABLE b_app.more (id int)", ""),
    ],
    ids=["made anew", "what it reads", "a table"],
)
def test_the_materialized_views_of_a_whole_schema_are_approved(
    plan: Plan, postgresql_server: Server, change: str, said: str
) -> None:
    def subject() -> Subject:
        return subject_of_plan(plan.folder / "n.toml", *made(plan.url, REFRESH, plan.store, plan.folder))

    with postgresql_server.connect() as session:
        session.execute("CREATE MATERIALIZED VIEW b_app.kept AS SELECT id FROM b_app.inner")
        session.execute("GRANT ALL ON ALL TABLES IN SCHEMA b_app TO b_job")
        approve(subject(), plan.store)
        check(subject(), plan.store)
        if "kept" in change:
            session.execute("DROP MATERIALIZED VIEW b_app.kept")
        session.execute(change.encode())
    if not said:
        check(subject(), plan.store)
        return
    with pytest.raises(ToolkitError) as caught:
        check(subject(), plan.store)
    assert said in caught.value.message


@pytest.mark.postgresql
def test_what_the_plan_makes_is_no_difference_once_it_is_there(plan: Plan, postgresql_server: Server) -> None:
    plan.approve()
    with postgresql_server.connect() as session:
        session.execute("CREATE TABLE b_app.copied (id int, t text)")
    assert plan.difference() == ""


def test_every_option_that_holds_sql_is_looked_at() -> None:
    kinds = {OptionKind.QUERY, OptionKind.PREDICATE, OptionKind.ASSIGNMENTS, OptionKind.EXPRESSIONS,
             OptionKind.TRANSACTIONS}  # fmt: skip
    options = [option for one in operations().values() for option in one.options if option.kind in kinds]
    in_a_copy = {"check"}
    """The query of a restored copy: its names are those of the backup."""
    assert {option.name for option in options} - in_a_copy <= SQL_KEYS | {TRANSACTIONS}


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("change", "said"),
    thinned(
        [
            ("CREATE OR REPLACE VIEW s.seen AS SELECT 2 AS id", "was `view s.seen, text "),
            ("CREATE OR REPLACE MACRO s.f(x) AS x + 2", "was `macro s.f, text "),
            ('CREATE OR REPLACE VIEW s."in.ner" AS SELECT 2 AS id', "was `view s.in.ner, text "),
            ("CREATE OR REPLACE MACRO s.g(x) AS x + 2", "was `macro s.g, text "),
            (
                "DROP TABLE s.dest; CREATE VIEW s.dest AS SELECT 1 AS id",
                "was `table s.dest` and is `view s.dest, text ",
            ),
            (f"{DUCKDB_TRIGGER} s.dest {FIRED}", "was `table s.dest` and is `table s.dest, text "),
            (f"{DUCKDB_TRIGGER} s.log {FIRED}", "was `table s.log` and is `table s.log, text "),
            ("ALTER TABLE s.dest ALTER id SET DEFAULT s.f(7)", "was `table s.dest` and is `table s.dest, text "),
            ("DROP TABLE s.named; CREATE VIEW s.named AS SELECT 7 AS id", "and is `view s.named, text "),
            ("CREATE VIEW made AS SELECT 7 AS id", "was not set and is `view main.made, text "),
            ("CREATE TABLE made (id INT DEFAULT 7)", "was not set and is `table main.made, text "),
            ("CREATE TABLE made (id INT)", ""),
            ("CREATE OR REPLACE MACRO twice(x) AS x + x", "was `macro main.twice, text "),
            ("DROP TYPE s.mood; CREATE TYPE s.mood AS ENUM ('y', 'x')", "was `type s.mood, text "),
            ('CREATE MACRO "+"(a, b) AS 7', "name `names of DuckDB's own`"),
        ],
        3,
    ),
    ids=[
        "view",
        "macro",
        "view of a view",
        "macro of a view",
        "table",
        "trigger",
        "trigger of a trigger",
        "default",
        "name in a literal",
        "view in place of what is made",
        "what is made with a default",
        "what is made",
        "macro after a dot",
        "labels of a type",
        "macro in the place of an operator",
    ],
)
def test_a_text_behind_a_name_with_its_schema_is_approved_in_a_duckdb_file(
    store: Store, tmp_path: Path, change: str, said: str
) -> None:
    file = tmp_path / "x.duckdb"
    with duckdb.connect(str(file)) as session:
        session.execute("CREATE SCHEMA s; CREATE TABLE s.dest (id INT); CREATE MACRO s.f(x) AS x + 1")
        session.execute("CREATE TABLE s.log (id INT); CREATE TABLE s.named (id INT)")
        session.execute("CREATE MACRO twice(x) AS 2 * x; CREATE TYPE s.mood AS ENUM ('x', 'y')")
        session.execute('CREATE MACRO s.g(x) AS x; CREATE VIEW s."in.ner" AS SELECT s.G(1) AS id')
        session.execute('CREATE VIEW s.middle AS FROM s."IN.ner"; CREATE VIEW s.seen AS SELECT id FROM s.middle')
    steps = (
        '[[step]]\nname = "load"\noperation = "insert"\nsource = "s.seen"\ntable = "S.Dest"\n'
        '[[step]]\nname = "copy"\noperation = "ctas"\nquery = "SELECT s.f(id).twice() AS id FROM s.dest '
        """WHERE 'x'::s.mood < 'y'"\ntable = "made"\n"""
        '[[step]]\nname = "log"\noperation = "insert"\ntable = "s.log"\n'
        """query = "SELECT id FROM made UNION ALL FROM query_table('s.named')"\n"""
    )

    def subject() -> Subject:
        return subject_of_plan(tmp_path / "n.toml", *made(f"duckdb:///{file}", steps, store, tmp_path))

    approve(subject(), store)
    check(subject(), store)
    with duckdb.connect(str(file)) as session:
        session.execute(change)
    if not said:
        check(subject(), store)
        return
    with pytest.raises(ToolkitError) as caught:
        check(subject(), store)
    assert said in caught.value.message


@pytest.mark.full
def test_no_macro_answers_in_the_place_of_what_looks_for_it(tmp_path: Path) -> None:
    """Every function of DuckDB has a macro of its name: the look says the same, and that they are there."""
    files = {file: resources.sql_text(f"duckdb/{file}.sql") for file in ("server", "reach", "names_in_texts")}
    files["names_in_texts"] = files["names_in_texts"].replace(":words", "'|main.v|.f|t|'")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as session:
        session.execute(
            "CREATE TABLE t (i INT DEFAULT 5); CREATE VIEW v AS SELECT i FROM t; CREATE MACRO f(x) AS x"
        )
        session.execute("SET enable_external_access = false")
        before = {file: set(session.execute(text).fetchall()) for file, text in files.items()}
        assert {name for name, _ in before["names_in_texts"]} == {"main.v", "f", "t", "main.t"}
        names = session.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE internal").fetchall()
        for (name,) in names:
            quoted = '"' + name.replace('"', '""') + '"'
            session.execute(f"CREATE MACRO {quoted}(a := 1, b := 1, c := 1, d := 1, e := 1) AS 77")
            session.execute(f"CREATE MACRO {quoted}() AS TABLE SELECT 77 AS x")
        after = {file: set(session.execute(text).fetchall()) for file, text in files.items()}
    ((planted, said),) = after["names_in_texts"] - before["names_in_texts"]
    assert planted == "names of DuckDB's own" and said.startswith(f"{2 * len(names)} own macros")
    assert {file: after[file] for file in ("server", "reach")} == {
        file: before[file] for file in ("server", "reach")
    }


def test_a_file_that_says_that_it_is_another_one_is_not_that(store: Store, tmp_path: Path) -> None:
    for name in ("first", "second"):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as session:
            session.execute("CREATE TABLE src AS SELECT 1 AS id; CREATE TABLE dest (id INT)")
    link = tmp_path / "link.duckdb"
    link.symlink_to("first.duckdb")
    steps = '[[step]]\nname = "load"\noperation = "insert"\nsource = "src"\ntable = "dest"\n'

    def subject() -> Subject:
        return subject_of_plan(tmp_path / "n.toml", *made(f"duckdb:///{link}", steps, store, tmp_path))

    approve(subject(), store)
    check(subject(), store)
    with duckdb.connect(str(tmp_path / "second.duckdb")) as session:
        session.execute(
            f"CREATE MACRO duckdb_databases() AS TABLE SELECT * REPLACE ('{tmp_path}/first.duckdb' AS path) "
            "FROM system.main.duckdb_databases() WHERE NOT internal UNION ALL "
            "SELECT * REPLACE ('x' AS database_name) FROM system.main.duckdb_databases() WHERE NOT internal"
        )
    link.unlink()
    link.symlink_to("second.duckdb")
    with pytest.raises(ToolkitError) as caught:
        check(subject(), store)
    assert "file of `duckdb" in caught.value.message and "id of `duckdb" in caught.value.message


@pytest.mark.postgresql
def test_no_function_answers_in_the_place_of_what_looks_for_it(plan: Plan, postgresql_server: Server) -> None:
    """It fits better than PostgreSQL's own, and would be called with the rights of who asks."""
    with postgresql_server.connect() as session:
        session.execute("ALTER ROLE b_job SET search_path = b_third, pg_catalog")
        session.execute("CREATE FUNCTION b_third.strpos(text, text) RETURNS int LANGUAGE sql AS 'SELECT 0'")
        session.execute("CREATE FUNCTION b_third.md5(text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
        plan.approve()
        assert plan.difference() == ""
        session.execute("CREATE OR REPLACE VIEW b_app.inner AS SELECT 8 AS id FROM b_app.base")
        assert "was `view b_app.inner, behind it " in plan.difference()


@pytest.mark.thin(3)
@pytest.mark.postgresql
@pytest.mark.parametrize(
    "planted",
    [
        "concat_ws(text, text, text, text)",
        "concat_ws(text, name, text, text, text, text)",
        "array_to_string(text[], text)",
        "array_to_string(name[], text)",
        "to_json(name[])",
    ],
)
def test_no_own_function_is_called_before_the_approval_was_looked_at(
    plan: Plan, postgresql_server: Server, planted: str
) -> None:
    plan.approve()
    with postgresql_server.connect() as session:
        session.execute("ALTER ROLE b_job SET search_path = b_third")
        body = "LANGUAGE plpgsql AS 'BEGIN RAISE ''called''; END'"
        session.execute(f"CREATE FUNCTION b_third.{planted} RETURNS text {body}".encode())
    assert "search_path" in plan.difference()


@pytest.mark.postgresql
def test_the_catalogue_is_not_read_anew_for_each_table_behind_a_name(postgresql_server: Server) -> None:
    """Four times as many tables are four times the rows that its plan goes through, not sixteen."""
    with postgresql_server.schema(
        "b_many", f"{TRIGGER}CREATE TABLE b_app.star (id int PRIMARY KEY)".replace("b_app", "b_many")
    ):
        read = [_rows_read(postgresql_server, upto) for upto in (100, 400)]
    assert read[1] < 5 * read[0], read


def _rows_read(server: Server, tables: int) -> float:
    """Return the rows that the nodes of the read handle where so many tables with triggers refer to one."""
    child = "CREATE TABLE IF NOT EXISTS b_many.c{0} (id int REFERENCES b_many.star ON DELETE CASCADE)"
    trigger = "CREATE OR REPLACE TRIGGER t BEFORE DELETE ON b_many.c{0} FOR EACH ROW EXECUTE FUNCTION b_many.tr()"
    file = sql_file("postgresql", "names_in_texts").replace("%", "%%").replace(":words", "%(words)s")
    with server.connect() as session:
        for number in range(tables):
            session.execute(f"{child}; {trigger}".format(number).encode())
        session.execute(f"ANALYZE {CATALOGUE}".encode())
        session.execute(sql_file("postgresql", "names_begin").encode())
        words = {"words": "|b_many.star|"}
        found = session.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {file}".encode(), words).fetchall()
    return sum(_rows_of(found[0][0][0]["Plan"]))  # type: ignore[index]


def _rows_of(node: Mapping[str, Any]) -> Iterator[float]:
    removed = sum(value for key, value in node.items() if key.startswith("Rows Removed by"))
    yield (node["Actual Rows"] + removed) * node["Actual Loops"]
    for inner in node.get("Plans", ()):
        yield from _rows_of(inner)
