"""Dumps with what only a superuser may make: restored where that is safe, else named."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.for_each import for_each
from tests.restoring.conftest import Place, reason, target_of, trial
from tests.servers.postgresql import Server, begun_from
from tests.tiers import thinned
from toolkit.dialects.postgresql.backup.programs import error_of

pytestmark = pytest.mark.postgresql

Tried = Callable[..., tuple[int, dict[str, object]]]
SQL = Path(__file__).with_name("extension.sql").read_text()


@contextmanager
def trying(place_of: Callable[..., Place], server: Server) -> Iterator[Tried]:
    """Make a database of statements, dump it, and try the dump."""
    own = Server(server.host, server.port, "rights", server.user, bin_dir=server.bin_dir)
    place = place_of(*target_of(own))

    def tried(text: str, *arguments: str) -> tuple[int, dict[str, object]]:
        with own.connect() as session:
            session.execute(text)  # type: ignore[call-overload]
        where = ("--destination", str(place.folder), "--tag", "dump")
        status, document = place.run("backup", "run", "--method", "pg_dump", *where)
        assert status == 0, reason(document)
        found = place.restore(place.folder / "dump", "--method", "pg_dump", *arguments)
        assert place.left() == []
        return found

    with server.connect() as session:
        session.execute("CREATE DATABASE rights")
    try:
        yield tried
    finally:
        with server.connect() as session:
            session.execute("DROP DATABASE rights")


@pytest.fixture
def tried(place_of: Callable[..., Place], loaded: Server) -> Iterator[Tried]:
    with trying(place_of, loaded) as found:
        yield found


REFUSED = {
    "FUNCTION leak(integer)": "CREATE FUNCTION leak(int) RETURNS bool LANGUAGE sql LEAKPROOF AS 'SELECT true'",
    "FUNCTION own(real)": "CREATE FUNCTION own(real) RETURNS real LANGUAGE internal AS 'float4up'",
    "FUNCTION logs()": "CREATE FUNCTION logs() RETURNS int LANGUAGE sql SET log_statement = none AS 'SELECT 1'",
    "CAST CAST (text AS integer)": "CREATE CAST (text AS integer) WITH INOUT",
    "CAST CAST (integer AS date)": "CREATE CAST (int AS date) WITHOUT FUNCTION",
    "OPERATOR FAMILY opened": "CREATE OPERATOR FAMILY opened USING btree",
    "TYPE shell": "CREATE TYPE shell",
    "AGGREGATE mymode(anyelement)": (
        "CREATE AGGREGATE mymode(ORDER BY anyelement) (SFUNC = ordered_set_transition, STYPE = internal, "
        "FINALFUNC = mode_final, FINALFUNC_EXTRA)"
    ),
    "FOREIGN TABLE ft": (
        "CREATE EXTENSION file_fdw; CREATE SERVER s FOREIGN DATA WRAPPER file_fdw; "
        "CREATE FOREIGN TABLE ft (a text) SERVER s OPTIONS (filename '/etc/hostname')"
    ),
    "USER MAPPING USER MAPPING public SERVER other": (
        "CREATE EXTENSION postgres_fdw; CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw; "
        "CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (user 'u', password_required 'false')"
    ),
    "FUNCTION similar_to()": (
        "CREATE EXTENSION pg_trgm; SELECT show_limit(); CREATE FUNCTION similar_to() RETURNS int LANGUAGE sql "
        "SET pg_trgm.similarity_threshold = '0.4' AS 'SELECT 1'"
    ),
    "FOREIGN DATA WRAPPER wrapper": "CREATE FOREIGN DATA WRAPPER wrapper",
    "ACCESS METHOD other": "CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler",
    "TEXT SEARCH TEMPLATE words": (
        "CREATE TEXT SEARCH TEMPLATE words (INIT = dsimple_init, LEXIZE = dsimple_lexize)"
    ),
    "TEXT SEARCH PARSER parts": (
        "CREATE TEXT SEARCH PARSER parts (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, "
        "LEXTYPES = prsd_lextype)"
    ),
}


HINT = " (run without superuser rights: --as-superuser gives them, to the backup's functions too)"
SAID = {
    "3; 2605 1 CAST CAST (text AS integer) (no owner)|must be owner of type text":
        f"`CAST CAST (text AS integer)`: must be owner of type text{HINT}",
    "2; 1255 1 FUNCTION odd name(integer) dba|permission denied for language c":
        f"`FUNCTION odd name(integer)`: permission denied for language c{HINT}",
    "9; 0 0 COMMENT EXTENSION dblink |extension \"dblink\" does not exist":
        "`COMMENT EXTENSION dblink`: extension \"dblink\" does not exist",
}  # fmt: skip


@for_each("shown", list(SAID))
def test_an_item_is_named_whoever_owns_it(shown: str) -> None:
    item, _, cause = shown.partition("|")
    lines = [
        "pg_restore: from TOC entry 1; 1247 2 TYPE earlier dba", "pg_restore: while PROCESSING TOC:",
        f"pg_restore: from TOC entry {item}", f"pg_restore: error: could not execute query: ERROR:  {cause}",
        "Command was: x", "pg_restore: from TOC entry 5; 1247 2 TYPE later dba",
    ]  # fmt: skip
    found = error_of("postgresql/pg_restore", 1, lines)
    assert found is not None
    assert found.sentence.startswith(f"pg_restore: {SAID[shown]}")


@pytest.mark.thin(2)
@pytest.mark.parametrize("item", thinned(list(REFUSED), len(REFUSED)))
def test_what_cannot_be_made_without_superuser_rights_is_named(tried: Tried, item: str) -> None:
    status, document = tried(REFUSED[item])
    assert (status, trial(document)["outcome"]) == (3, "failed")
    assert f"pg_restore: `{item}`: " in reason(document)
    assert "--as-superuser gives them" in reason(document)


def test_all_of_it_can_be_made_as_superuser(tried: Tried) -> None:
    status, document = tried(";".join(REFUSED.values()), "--as-superuser")
    assert status == 0, reason(document)


def test_event_triggers_and_publications_are_left_out_and_named(tried: Tried) -> None:
    made = (
        "CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';"
        'CREATE EVENT TRIGGER "on change" ON ddl_command_end EXECUTE FUNCTION note();'
        "COMMENT ON EVENT TRIGGER \"on change\" IS 'why';"
        "CREATE TABLE t (i int); CREATE PUBLICATION everything FOR ALL TABLES; CREATE PUBLICATION one FOR TABLE t;"
        "COMMENT ON PUBLICATION one IS 'why'; COMMENT ON SCHEMA public IS 'ours'"
    )
    said = "left out without --as-superuser: publication everything, publication one, event trigger on change"
    status, document = tried(made)
    assert status == 0, reason(document)
    assert any(said in warning for warning in document["warnings"])  # type: ignore[attr-defined]


def test_a_function_that_is_not_for_everybody_is_told(tried: Tried, tmp_path: Path) -> None:
    """Of a dump no privileges are restored: there everybody may call it."""
    check = tmp_path / "check.sql"
    check.write_text("SELECT count(*) > 0 FROM pg_hba_file_rules")
    status, document = tried("CREATE TABLE t (i int)", "--check", str(check))
    assert status == 3
    assert "permission denied for function pg_hba_file_rules (run without superuser rights: " in reason(document)


@pytest.fixture(scope="module")
def with_extension(loaded: Server, open_folder: Path) -> Iterator[Server]:
    """A server with an extension of the test's own, from a copy of its programs."""
    assert loaded.bin_dir is not None
    share = loaded.bin_dir.parent / "share" / "extension"
    if not share.is_dir():
        pytest.skip("these programs of PostgreSQL work only where they are")
    copy = open_folder / "pginstall"
    shutil.copytree(loaded.bin_dir.parent, copy, symlinks=True)
    control = "comment = 'of a test'\ndefault_version = '1'\nrelocatable = false\nschema = kept\n"
    (copy / "share" / "extension" / "kept.control").write_text(control)
    (copy / "share" / "extension" / "kept--1.sql").write_text(SQL)
    with begun_from(copy / "bin") as server:
        yield server


@pytest.mark.full
def test_an_extension_is_made_before_and_none_of_its_functions_runs_as_superuser(
    place_of: Callable[..., Place], with_extension: Server, tmp_path: Path
) -> None:
    """Its rows and those of tables in its schema are there; what it lets anybody do as superuser nobody does."""
    check = tmp_path / "check.sql"
    check.write_text(
        "SELECT 'rows', (SELECT count(*) FROM kept.settings) = 2 UNION ALL "
        "SELECT 'referring', (SELECT count(*) FROM kept.referring) = 1 UNION ALL "
        "SELECT 'sequence', last_value = 7 FROM kept.numbers UNION ALL "
        "SELECT 'own', count(*) = 1 FROM inner_kept.own UNION ALL SELECT attempt, NOT done FROM public.attempts"
    )
    made = f"""
        CREATE EXTENSION kept;
        INSERT INTO kept.settings VALUES (1), (2);
        INSERT INTO kept.referring VALUES (1);
        SELECT setval('kept.numbers', 7);
        CREATE TABLE inner_kept.own AS SELECT 1 AS i;
        CREATE TABLE public.attempts (attempt text, done bool);
        CREATE FUNCTION public.attempt(text) RETURNS bool LANGUAGE plpgsql AS $f$
          BEGIN EXECUTE $1; RETURN true; EXCEPTION WHEN OTHERS THEN RETURN false; END $f$;
        CREATE FUNCTION public.mischief() RETURNS int LANGUAGE plpgsql AS $f$
          BEGIN
            IF current_setting('port') <> '{with_extension.port}' THEN
              INSERT INTO public.attempts SELECT a, public.attempt(a) FROM unnest(ARRAY[
                'SELECT kept.run(''COPY (SELECT 1) TO PROGRAM ''''cat >/dev/null'''''')',
                'CREATE EXTENSION citext SCHEMA public', 'CREATE SCHEMA more', 'DELETE FROM kept.settings',
                'CREATE TABLE public.r (i int REFERENCES kept.settings)', 'ALTER TABLE kept.settings ADD j int',
                'CREATE TRIGGER t AFTER INSERT ON kept.settings EXECUTE FUNCTION kept.note()',
                'UPDATE pg_proc SET prosecdef = true', 'GRANT dbatk TO current_user']) AS a;
            END IF;
            RETURN 1;
          END $f$;
        CREATE TABLE public.zzz (i int CHECK (public.mischief() = 1));
        INSERT INTO public.zzz VALUES (1);
    """
    with trying(place_of, with_extension) as tried:
        status, document = tried(made, "--check", str(check))
        assert status == 0, reason(document)
        labels = [item["label"] for item in trial(document)["items"]]  # type: ignore[attr-defined]
        assert len([label for label in labels if label.endswith(": true")]) == 4 + 9


@pytest.mark.full
def test_a_server_of_an_unknown_wrapper_is_named(place_of: Callable[..., Place], with_extension: Server) -> None:
    """Who may use a wrapper may read files with some of them, and run programs with others."""
    with trying(place_of, with_extension) as tried:
        status, document = tried("CREATE EXTENSION kept; CREATE SERVER s FOREIGN DATA WRAPPER kept_wrapper")
        assert status == 3
        assert f"`SERVER s`: permission denied for foreign-data wrapper kept_wrapper{HINT}" in reason(document)
