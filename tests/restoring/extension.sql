-- An extension with rows that a dump has, a schema of its own, and a function with which everybody is a superuser.
CREATE TABLE settings (i int PRIMARY KEY);
CREATE TABLE referring (i int REFERENCES settings);
CREATE SEQUENCE numbers;
SELECT pg_catalog.pg_extension_config_dump('settings', '');
SELECT pg_catalog.pg_extension_config_dump('referring', '');
SELECT pg_catalog.pg_extension_config_dump('numbers', '');
CREATE SCHEMA inner_kept;
CREATE FUNCTION run(statement text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN EXECUTE statement; END';
CREATE FOREIGN DATA WRAPPER kept_wrapper;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION noted() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN END';
CREATE EVENT TRIGGER kept_changes ON ddl_command_end EXECUTE FUNCTION noted();
