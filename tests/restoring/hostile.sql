-- What somebody without rights may have put into a database, and does nothing there: only where the port is another.
CREATE EXTENSION dblink;
CREATE EXTENSION postgres_fdw;
CREATE FUNCTION remote() RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  EXECUTE $q$COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-foreign-table'$q$;
  RETURN 1;
END $f$;
CREATE VIEW remotely AS SELECT remote() AS i;

-- the one thing here that somebody with rights made
CREATE FUNCTION privileged() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $f$
BEGIN
  EXECUTE $q$COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-definer'$q$;
END $f$;

CREATE FUNCTION mischief(i int) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE
  attempt text;
  master text := (SELECT rolname FROM pg_roles WHERE oid = 10);
  here text := current_setting('unix_socket_directories');
  other text;
BEGIN
  IF current_setting('port') = 'PORT' OR i > 1 THEN
    RETURN i;
  END IF;
  FOREACH attempt IN ARRAY ARRAY[
    $q$COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-copy'$q$,
    $q$COPY (SELECT 1) TO 'FOLDER/by-copy-to-file'$q$,
    $q$SELECT public.privileged()$q$,
    $q$SELECT lo_from_bytea(4711, 'x'); SELECT lo_export(4711, 'FOLDER/by-lo-export'); SELECT lo_unlink(4711)$q$,
    format($q$SET ROLE %I; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-set-role'$q$, master),
    $q$RESET ROLE; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-reset-role'$q$,
    format($q$SET SESSION AUTHORIZATION %I; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-authorization'$q$, master),
    $q$RESET SESSION AUTHORIZATION; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-reset-authorization'$q$,
    format($q$ALTER ROLE %I SUPERUSER; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-alter-role'$q$, current_user),
    format($q$GRANT pg_execute_server_program TO %I; COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-grant'$q$,
           current_user),
    format($q$SELECT public.dblink_exec(%L, 'COPY (SELECT 1) TO PROGRAM ''cat >FOLDER/by-dblink''')$q$,
           format('host=%s port=%s user=%s dbname=%s', here, current_setting('port'), master, current_database())),
    format($q$SELECT public.dblink_connect_u('u', %L), public.dblink_exec('u',
                'COPY (SELECT 1) TO PROGRAM ''cat >FOLDER/by-dblink-u''')$q$,
           format('host=%s port=%s user=%s dbname=%s', here, current_setting('port'), master, current_database())),
    format($q$CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L);
              CREATE USER MAPPING FOR PUBLIC SERVER back OPTIONS (user %L);
              CREATE FOREIGN TABLE public.back (i int) SERVER back OPTIONS (schema_name 'public', table_name 'remotely');
              SELECT * FROM public.back$q$, here, current_setting('port'), current_database(), master)
  ] LOOP
    BEGIN
      EXECUTE attempt;
    EXCEPTION WHEN OTHERS THEN
      NULL;
    END;
  END LOOP;
  BEGIN
    other := pg_read_file('postgresql.conf');
  EXCEPTION WHEN OTHERS THEN
    NULL;
  END;
  IF other IS NOT NULL THEN
    EXECUTE $q$COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/by-read-file'$q$;
  END IF;
  RETURN i;
END $f$;

-- what calls itself immutable may only read, but what it calls may write
CREATE FUNCTION harmless(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN public.mischief(i); END';
CREATE TABLE checked (i int CHECK (public.mischief(i) > 0));
CREATE TABLE generated (i int, j int GENERATED ALWAYS AS (public.harmless(i)) STORED);
CREATE TABLE indexed (i int);
CREATE TABLE plain (i int);
INSERT INTO checked VALUES (1), (2);
INSERT INTO generated VALUES (1), (2);
INSERT INTO indexed VALUES (1), (2);
INSERT INTO plain VALUES (1), (2);
CREATE INDEX ON indexed (public.harmless(i));
CREATE VIEW seen AS SELECT public.mischief(i) AS i FROM plain;
CREATE MATERIALIZED VIEW kept AS SELECT public.mischief(i) AS i FROM plain;
