-- Title: What the names in a plan lead to: relations, own functions and types, and what stands behind them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|app.total|); one without a dot as this session finds it
-- Versions: PostgreSQL 14 and later
-- Behind a relation are the text of a view, rules, triggers with the body of their functions, row security, defaults
-- and checks. The list of columns, indexes and rows are not: they change with the work of every day.
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || c.relname AS name,
       CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
                      WHEN 'p' THEN 'partitioned table' WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' WHEN 'I' THEN 'index'
                      ELSE 'table' END || ' ' || n.nspname || '.' || c.relname
       || coalesce(', behind it ' || left(md5(nullif(concat_ws(chr(10),
            CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
            (SELECT string_agg(pg_get_ruledef(r.oid) || r.ev_enabled::text, chr(10) ORDER BY r.rulename)
               FROM pg_rewrite r
              WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'),
            (SELECT string_agg(pg_get_triggerdef(t.oid) || t.tgenabled::text || f.prosrc, chr(10) ORDER BY t.tgname)
               FROM pg_trigger t
               JOIN pg_proc f ON f.oid = t.tgfoid
              WHERE (t.tgrelid = c.oid OR t.tgrelid IN (SELECT b.relid FROM pg_partition_tree(c.oid) b))
                AND NOT t.tgisinternal AND t.tgparentid = 0),
            (SELECT string_agg(a.attname || ' ' || pg_get_expr(d.adbin, d.adrelid), chr(10) ORDER BY a.attname)
               FROM pg_attrdef d
               JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
              WHERE d.adrelid = c.oid),
            (SELECT string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid), chr(10) ORDER BY k.conname)
               FROM pg_constraint k
              WHERE k.conrelid = c.oid AND k.contype = 'c'),
            CASE WHEN c.relrowsecurity THEN 'row security ' || c.relforcerowsecurity::text END,
            (SELECT string_agg(concat_ws(' ', p.polname, p.polcmd, p.polpermissive, p.polroles,
                                         pg_get_expr(p.polqual, p.polrelid),
                                         pg_get_expr(p.polwithcheck, p.polrelid)), chr(10) ORDER BY p.polname)
               FROM pg_policy p
              WHERE p.polrelid = c.oid AND c.relrowsecurity)), '')), 12), '') AS leads_to
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'i', 'I')
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || c.relname || '|') > 0
   AND (asked.dotted OR pg_table_is_visible(c.oid))
 UNION ALL
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || p.proname,
       'function ' || n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || '), body '
       || left(md5(concat_ws(chr(10), p.prosrc, pg_get_function_sqlbody(p.oid), p.prolang, p.prosecdef, p.proconfig)), 12)
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE n.nspname <> 'pg_catalog'
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || p.proname || '|') > 0
   AND (asked.dotted OR pg_function_is_visible(p.oid))
 UNION ALL
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || t.typname,
       'type ' || n.nspname || '.' || t.typname
  FROM pg_type t
  JOIN pg_namespace n ON n.oid = t.typnamespace
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE n.nspname <> 'pg_catalog'
   AND t.typrelid = 0
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || t.typname || '|') > 0
   AND (asked.dotted OR pg_type_is_visible(t.oid));
