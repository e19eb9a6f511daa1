-- What owners of a table, and whoever may make functions in `public`, could have whoever compares the table run there.
CREATE FUNCTION public.done(how text) RETURNS void LANGUAGE plpgsql AS $f$
BEGIN
  IF current_setting('port') = 'PORT' THEN
    EXECUTE format($q$COPY (SELECT 1) TO PROGRAM 'cat >FOLDER/%s'$q$, how);
  END IF;
END $f$;
CREATE TYPE public.mood AS ENUM ('good', 'bad');
CREATE DOMAIN public.few AS int CHECK (value < 10);
CREATE TABLE public.kept (number public.few, moods public.mood[], numbers public.few[], spans int4range);
INSERT INTO public.kept VALUES (1, '{good,bad}', '{1,2}', '[1,4)'), (2, NULL, NULL, NULL);
CREATE FUNCTION public.as_text(public.kept) RETURNS text LANGUAGE plpgsql AS $f$
BEGIN PERFORM public.done('by-cast'); RETURN 'x'; END $f$;
CREATE CAST (public.kept AS text) WITH FUNCTION public.as_text(public.kept) AS IMPLICIT;
CREATE FUNCTION public.hashtextextended(text, int) RETURNS bigint LANGUAGE plpgsql AS $f$
BEGIN PERFORM public.done('by-hash'); RETURN 1; END $f$;
CREATE FUNCTION public.mood_text(public.mood) RETURNS text LANGUAGE plpgsql AS $f$
BEGIN PERFORM public.done('by-enum'); RETURN 'x'; END $f$;
CREATE CAST (public.mood AS text) WITH FUNCTION public.mood_text(public.mood) AS IMPLICIT;
CREATE TABLE public.named (t int, name text);
INSERT INTO public.named VALUES (1, 'a');
