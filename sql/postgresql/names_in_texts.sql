-- Title: What the names in a plan lead to: relations, own functions, types, operators, collations, and what stands behind them
-- Needs: none
-- License: none
-- Effect: reads only
-- Params: :words, the names, each between bars (|orders|app.total|app.*|.total|); one without a dot as the session finds it, one after a dot only where it is a function
-- Versions: PostgreSQL 14 and later
-- Behind a relation are the text of a view, rules, triggers, row security, defaults, checks, also of its columns'
-- domains, where a foreign table leads to, and the own functions that any of these, an index, extended statistics or a
-- partition calls. What the text of a view, a rule or a policy reads counts as if it were named, however deep. The list of columns, plain indexes and rows are not: they change with the work of every day. A
-- function that a plan names is approved by itself: an index that the plan makes with it changes nothing.
-- A publication sends rows elsewhere: those of each relation count, and those that take whatever is made. So do the
-- default privileges of this role, by which others may read what it makes.
-- Event triggers run whatever is named: each that is enabled counts, with the function that it calls.
-- Foreign keys that carry on what is deleted or changed (CASCADE, SET NULL, SET DEFAULT), however far, count, and the table
-- to which one does where it has triggers, or checks, indexes or defaults that call own functions. So does a table that inherits.
-- Of a schema that is worked on as a whole (app.*) these are the own functions that indexes, statistics and checks call (all
-- checks: one that a run validates stays approved), and its materialized views.
-- Operators and casts are used without a name: all own ones that this session finds count, those of a schema that is named,
-- and those that anything stored uses. So do the own functions of operator classes and ranges, which indexes call, and
-- checks and defaults of all domains: a column, a composite type, an array or a range may hold one.
-- `names_begin` ran before: nothing here is an own function or operator, whatever the search_path of the session was.
WITH RECURSIVE looked_in AS (
SELECT n.oid, p.at
  FROM json_array_elements_text(CAST(current_setting('dbatk.looked_in') AS json)) WITH ORDINALITY p (name, at)
  JOIN pg_namespace n ON n.nspname = p.name
), own AS NOT MATERIALIZED (
SELECT p.oid, n.nspname, p.proname, p.proargtypes, p.pronamespace,
       n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS signature,
       CASE WHEN p.prokind <> 'a'
            THEN pg_get_functiondef(p.oid) || CASE WHEN p.prosecdef THEN pg_get_userbyid(p.proowner) ELSE '' END
            ELSE (SELECT concat_ws(' ', g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn,
                                   g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn, g.aggtranstype::regtype,
                                   g.aggsortop::regoperator, g.agginitval, g.aggminitval,
                                   (SELECT string_agg(pg_get_functiondef(f.oid), chr(10) ORDER BY f.oid::regprocedure::text)
                                      FROM pg_depend d
                                      JOIN pg_proc f ON f.oid = d.refobjid
                                      JOIN pg_namespace b ON b.oid = f.pronamespace
                                     WHERE d.classid = CAST('pg_proc' AS regclass) AND d.objid = g.aggfnoid
                                       AND d.refclassid = CAST('pg_proc' AS regclass)
                                       AND b.nspname <> 'pg_catalog' AND f.prokind <> 'a'))
                    FROM pg_aggregate g
                   WHERE g.aggfnoid = p.oid) END AS body
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE p.pronamespace <> CAST('pg_catalog' AS regnamespace)
), domains AS (
SELECT t.oid, t.oid AS part, t.typbasetype AS base
  FROM pg_type t
 WHERE t.typtype = 'd'
 UNION ALL
SELECT d.oid, t.oid, t.typbasetype
  FROM domains d
  JOIN pg_type t ON t.oid = d.base AND t.typtype = 'd'
), domain_checks AS (
SELECT t.oid AS type, k.oid, d.part::regtype || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) AS text
  FROM domains d
  JOIN pg_constraint k ON k.contypid = d.part
  JOIN (SELECT oid, oid AS made_of FROM pg_type
         UNION ALL
        SELECT oid, typelem FROM pg_type) t ON t.made_of = d.oid
), calls AS MATERIALIZED (
SELECT d.classid, d.objid, f.oid
  FROM pg_depend d
  JOIN own f ON f.oid = d.refobjid
 WHERE d.refclassid = CAST('pg_proc' AS regclass)
   AND NOT (strpos(CAST(:words AS text), '|' || f.proname || '|') > 0
            OR strpos(CAST(:words AS text), '|.' || f.proname || '|') > 0
            OR strpos(CAST(:words AS text), '|' || f.nspname || '.' || f.proname || '|') > 0)
), operators AS (
SELECT concat_ws(' ', 'operator', o.oid::regoperator, o.oprcode::regprocedure, f.body) AS text
  FROM pg_operator o
  JOIN pg_namespace n ON n.oid = o.oprnamespace
  LEFT JOIN own f ON f.oid = o.oprcode
 WHERE o.oprnamespace <> CAST('pg_catalog' AS regnamespace)
   AND (o.oid = (SELECT x.oid
                   FROM pg_operator x
                   JOIN looked_in ON looked_in.oid = x.oprnamespace
                  WHERE (x.oprname, x.oprleft, x.oprright) = (o.oprname, o.oprleft, o.oprright)
                  ORDER BY looked_in.at
                  LIMIT 1)
        OR strpos(CAST(:words AS text), '|' || n.nspname || '|') > 0
        OR EXISTS (SELECT FROM pg_depend d
                    WHERE d.refclassid = CAST('pg_operator' AS regclass) AND d.refobjid = o.oid AND d.deptype = 'n'
                      AND d.classid IN (CAST('pg_rewrite' AS regclass), CAST('pg_policy' AS regclass),
                                        CAST('pg_attrdef' AS regclass), CAST('pg_constraint' AS regclass),
                                        CAST('pg_class' AS regclass), CAST('pg_statistic_ext' AS regclass),
                                        CAST('pg_trigger' AS regclass), CAST('pg_proc' AS regclass)))
        OR o.oid IN (SELECT m.amopopr FROM pg_amop m))
 UNION ALL
SELECT concat_ws(' ', 'operator class', m.amproclefttype::regtype, m.amprocrighttype::regtype, m.amprocnum,
                 f.signature, f.body)
  FROM pg_amproc m
  JOIN own f ON f.oid = m.amproc
 UNION ALL
SELECT concat_ws(' ', 'range', r.rngtypid::regtype, f.signature, f.body)
  FROM pg_range r
  JOIN pg_depend d ON d.classid = CAST('pg_type' AS regclass) AND d.objid = r.rngtypid
                  AND d.refclassid = CAST('pg_proc' AS regclass)
  JOIN own f ON f.oid = d.refobjid
 UNION ALL
SELECT concat_ws(' ', 'cast', c.castsource::regtype, c.casttarget::regtype, c.castcontext, c.castmethod, f.signature,
                 f.body)
  FROM pg_cast c
  LEFT JOIN own f ON f.oid = c.castfunc
 WHERE c.oid >= 16384
), written AS MATERIALIZED (
SELECT c.oid, c.relname, asked.dotted
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'i', 'I')
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || c.relname || '|') > 0
), relations AS MATERIALIZED (
SELECT oid, dotted
  FROM written
 WHERE dotted OR oid = (SELECT x.oid
                          FROM pg_class x
                          JOIN looked_in ON looked_in.oid = x.relnamespace
                         WHERE x.relname = written.relname
                         ORDER BY looked_in.at
                         LIMIT 1)
), texts AS (
SELECT CAST('pg_rewrite' AS regclass) AS class, r.oid, r.ev_class AS relation FROM pg_rewrite r
 UNION ALL
SELECT CAST('pg_policy' AS regclass), p.oid, p.polrelid FROM pg_policy p
), named AS (
SELECT oid FROM relations
 UNION
SELECT c.oid
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'm'
   AND strpos(CAST(:words AS text), '|' || n.nspname || '.*|') > 0
), read AS (
SELECT oid FROM named
 UNION
SELECT d.refobjid
  FROM read
  JOIN texts ON texts.relation = read.oid
  JOIN pg_depend d ON d.classid = texts.class AND d.objid = texts.oid AND d.refclassid = CAST('pg_class' AS regclass)
  JOIN pg_class c ON c.oid = d.refobjid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
), keys AS (
SELECT k.confrelid AS parent, k.conrelid AS child, k.oid AS carries
  FROM pg_constraint k
  LEFT JOIN pg_constraint whole ON whole.oid = k.conparentid
 WHERE k.contype = 'f' AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd'))
   -- of a partition that refers its table tells; a partition that is referred to may be named itself
   AND (whole.oid IS NULL OR whole.confrelid <> k.confrelid)
 UNION ALL
SELECT i.inhparent, i.inhrelid, NULL
  FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhparent
 WHERE c.relkind IN ('r', 'f')
), reached AS (
SELECT keys.child FROM read JOIN keys ON keys.parent = read.oid
 UNION
SELECT keys.child FROM reached JOIN keys ON keys.parent = reached.child
), called AS (
SELECT t.tgrelid AS relation FROM pg_trigger t WHERE NOT t.tgisinternal
 UNION
SELECT k.conrelid FROM calls f JOIN pg_constraint k ON k.oid = f.objid WHERE f.classid = CAST('pg_constraint' AS regclass)
 UNION
SELECT i.indrelid FROM calls f JOIN pg_index i ON i.indexrelid = f.objid WHERE f.classid = CAST('pg_class' AS regclass)
 UNION
SELECT d.adrelid FROM calls f JOIN pg_attrdef d ON d.oid = f.objid WHERE f.classid = CAST('pg_attrdef' AS regclass)
), asked AS (
SELECT oid, dotted FROM relations
 UNION
SELECT oid, true FROM read WHERE oid NOT IN (SELECT oid FROM relations)
 UNION
SELECT child, true
  FROM (SELECT child, child AS part FROM reached
         UNION ALL
        SELECT child, b.relid FROM reached CROSS JOIN LATERAL pg_partition_tree(child) b) parts
 WHERE part IN (SELECT relation FROM called)
   AND child NOT IN (SELECT oid FROM relations)
), trees AS MATERIALIZED (
SELECT oid, oid AS part FROM asked
 UNION
SELECT asked.oid, b.relid FROM asked CROSS JOIN LATERAL pg_partition_tree(asked.oid) b
), triggers AS MATERIALIZED (
SELECT trees.oid AS relation,
       string_agg(pg_get_triggerdef(t.oid) || t.tgenabled::text || f.prosrc, chr(10)
                  ORDER BY t.tgname, t.tgrelid::regclass::text) AS text
  FROM trees
  JOIN pg_trigger t ON t.tgrelid = trees.part AND NOT t.tgisinternal
  JOIN pg_proc f ON f.oid = t.tgfoid
  LEFT JOIN pg_trigger whole ON whole.oid = t.tgparentid
    -- what a partition has of its table comes and goes with it, unless it is enabled otherwise
 WHERE whole.oid IS NULL OR t.tgrelid = trees.oid OR t.tgenabled <> whole.tgenabled
 GROUP BY trees.oid
), functions AS MATERIALIZED (
SELECT part.relation, string_agg(DISTINCT f.signature || f.body, chr(10) ORDER BY f.signature || f.body) AS text
  FROM (SELECT oid AS relation, CAST('pg_class' AS regclass) AS class, part AS oid FROM trees
         UNION ALL
        SELECT t.oid, CAST('pg_class' AS regclass), i.indexrelid FROM trees t JOIN pg_index i ON i.indrelid = t.part
         UNION ALL
        SELECT t.oid, CAST('pg_constraint' AS regclass), k.oid FROM trees t JOIN pg_constraint k ON k.conrelid = t.part
         UNION ALL
        SELECT a.attrelid, CAST('pg_constraint' AS regclass), k.oid
          FROM pg_attribute a
          JOIN domain_checks k ON k.type = a.atttypid
         WHERE a.attrelid IN (SELECT oid FROM asked) AND a.attnum > 0
         UNION ALL
        SELECT t.oid, CAST('pg_attrdef' AS regclass), d.oid FROM trees t JOIN pg_attrdef d ON d.adrelid = t.part
         UNION ALL
        SELECT t.oid, CAST('pg_statistic_ext' AS regclass), s.oid
          FROM trees t
          JOIN pg_statistic_ext s ON s.stxrelid = t.part
         UNION ALL
        SELECT t.oid, CAST('pg_trigger' AS regclass), g.oid FROM trees t JOIN pg_trigger g ON g.tgrelid = t.part
         UNION ALL
        SELECT r.ev_class, CAST('pg_rewrite' AS regclass), r.oid
          FROM pg_rewrite r
         WHERE r.ev_class IN (SELECT oid FROM asked)
         UNION ALL
        SELECT p.polrelid, CAST('pg_policy' AS regclass), p.oid
          FROM pg_policy p
          JOIN pg_class c ON c.oid = p.polrelid AND c.relrowsecurity
         WHERE p.polrelid IN (SELECT oid FROM asked)) part
  JOIN calls ON calls.classid = part.class AND calls.objid = part.oid
  JOIN own f ON f.oid = calls.oid
 GROUP BY part.relation
)
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || c.relname AS name,
       CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table'
                      WHEN 'p' THEN 'partitioned table' WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' WHEN 'I' THEN 'index'
                      ELSE 'table' END || ' ' || n.nspname || '.' || c.relname
       || coalesce(', behind it ' || left(md5(nullif(concat_ws(chr(10),
            CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
            CASE WHEN c.relkind = 'v'
                 THEN (SELECT concat_ws(' ', o.rolname, o.rolsuper, o.rolbypassrls, c.reloptions)
                         FROM pg_roles o
                        WHERE o.oid = c.relowner) END,
            (SELECT string_agg(pg_get_ruledef(r.oid) || r.ev_enabled::text, chr(10) ORDER BY r.rulename)
               FROM pg_rewrite r
              WHERE r.ev_class = c.oid AND r.rulename <> '_RETURN'),
            triggers.text,
            (SELECT string_agg(a.attname || ' ' || pg_get_expr(d.adbin, d.adrelid), chr(10) ORDER BY a.attname)
               FROM pg_attrdef d
               JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
              WHERE d.adrelid = c.oid),
            (SELECT string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid), chr(10) ORDER BY k.conname)
               FROM pg_constraint k
              WHERE k.conrelid = c.oid AND k.contype = 'c'),
            (SELECT string_agg(DISTINCT k.text, chr(10) ORDER BY k.text)
               FROM pg_attribute a
               JOIN domain_checks k ON k.type = a.atttypid
              WHERE a.attrelid = c.oid AND a.attnum > 0),
            (SELECT concat_ws(' ', s.srvname, w.fdwname, f.ftoptions, s.srvoptions, w.fdwoptions)
               FROM pg_foreign_table f
               JOIN pg_foreign_server s ON s.oid = f.ftserver
               JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
              WHERE f.ftrelid = c.oid),
            (SELECT string_agg(concat_ws(' ', f.ftrelid::regclass, s.srvname, w.fdwname, f.ftoptions, s.srvoptions,
                                         w.fdwoptions), chr(10) ORDER BY f.ftrelid::regclass::text)
               FROM pg_partition_tree(c.oid) b
               JOIN pg_foreign_table f ON f.ftrelid = b.relid
               JOIN pg_foreign_server s ON s.oid = f.ftserver
               JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw),
            functions.text,
            (SELECT string_agg(DISTINCT 'published by ' || p.pubname, chr(10))
               FROM pg_publication_tables p
               JOIN pg_namespace s ON s.nspname = p.schemaname
               JOIN pg_class b ON b.relnamespace = s.oid AND b.relname = p.tablename
              WHERE b.oid = c.oid OR b.oid IN (SELECT t.relid FROM pg_partition_tree(c.oid) t)),
            CASE WHEN c.relrowsecurity
                 THEN concat_ws(' ', 'row security', c.relforcerowsecurity, row_security_active(c.oid),
                                pg_get_userbyid(c.relowner)) END,
            (SELECT string_agg(concat_ws(' ', p.polname, p.polcmd, p.polpermissive, p.polroles,
                                         (SELECT bool_or(CASE o WHEN 0 THEN true ELSE pg_has_role(o, 'USAGE') END)
                                            FROM unnest(p.polroles) o),
                                         pg_get_expr(p.polqual, p.polrelid),
                                         pg_get_expr(p.polwithcheck, p.polrelid)), chr(10) ORDER BY p.polname)
               FROM pg_policy p
              WHERE p.polrelid = c.oid AND c.relrowsecurity)), '')), 12), '') AS leads_to
  FROM asked
  JOIN pg_class c ON c.oid = asked.oid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN triggers ON triggers.relation = c.oid
  LEFT JOIN functions ON functions.relation = c.oid
 UNION ALL
SELECT CASE WHEN p.dotted THEN p.nspname || '.' ELSE '' END || p.proname,
       'function ' || p.signature || ', body '
       || left(md5(concat_ws(chr(10), p.body,
            (SELECT string_agg(f.signature || f.body, chr(10) ORDER BY f.signature || f.body)
               FROM calls
               JOIN own f ON f.oid = calls.oid
              WHERE calls.classid = CAST('pg_proc' AS regclass) AND calls.objid = p.oid))), 12)
  FROM (SELECT own.*, asked.dotted
          FROM own
         CROSS JOIN (VALUES (false), (true)) asked (dotted)
         WHERE strpos(CAST(:words AS text),
                      '|' || CASE WHEN asked.dotted THEN own.nspname || '.' ELSE '' END || own.proname || '|') > 0
            OR NOT asked.dotted AND strpos(CAST(:words AS text), '|.' || own.proname || '|') > 0
        OFFSET 0) p
 WHERE p.dotted
    OR p.oid = (SELECT x.oid
                  FROM pg_proc x
                  JOIN looked_in ON looked_in.oid = x.pronamespace
                 WHERE (x.proname, x.proargtypes) = (p.proname, p.proargtypes)
                 ORDER BY looked_in.at
                 LIMIT 1)
 UNION ALL
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || t.typname,
       'type ' || n.nspname || '.' || t.typname
       || coalesce(', behind it ' || left(md5(nullif(concat_ws(chr(10),
            (SELECT string_agg(concat_ws(' ', k.text, f.signature || f.body), chr(10)
                               ORDER BY k.text, f.signature || f.body)
               FROM domain_checks k
               LEFT JOIN calls ON calls.classid = CAST('pg_constraint' AS regclass) AND calls.objid = k.oid
               LEFT JOIN own f ON f.oid = calls.oid
              WHERE k.type = t.oid),
            (SELECT string_agg(e.enumlabel, chr(10) ORDER BY e.enumsortorder)
               FROM pg_enum e
              WHERE e.enumtypid = t.oid),
            (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), chr(10) ORDER BY a.attnum)
               FROM pg_attribute a
              WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)), '')), 12), '')
  FROM pg_type t
  JOIN pg_namespace n ON n.oid = t.typnamespace
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE t.typnamespace <> CAST('pg_catalog' AS regnamespace)
   AND (t.typrelid = 0 OR (SELECT c.relkind FROM pg_class c WHERE c.oid = t.typrelid) = 'c')
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || t.typname || '|') > 0
   AND (asked.dotted OR t.oid = (SELECT x.oid
                                   FROM pg_type x
                                   JOIN looked_in ON looked_in.oid = x.typnamespace
                                  WHERE x.typname = t.typname
                                  ORDER BY looked_in.at
                                  LIMIT 1))
 UNION ALL
SELECT CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || part.name,
       part.kind || ' ' || n.nspname || '.' || part.name || ', made of ' || left(md5(part.text), 12)
  FROM (SELECT 'collation' AS kind, k.collname AS name, k.collnamespace AS schema,
               CAST(pg_catalog.to_jsonb(k) - 'oid' - 'collowner' - 'collnamespace' AS text) AS text
          FROM pg_collation k
         UNION ALL
        SELECT 'text search configuration', g.cfgname, g.cfgnamespace,
               concat_ws(' ', (SELECT r.prsname FROM pg_ts_parser r WHERE r.oid = g.cfgparser),
                         (SELECT string_agg(concat_ws(' ', m.maptokentype, m.mapseqno, d.dictname, t.tmplname,
                                                      d.dictinitoption), chr(10) ORDER BY m.maptokentype, m.mapseqno)
                            FROM pg_ts_config_map m
                            JOIN pg_ts_dict d ON d.oid = m.mapdict
                            JOIN pg_ts_template t ON t.oid = d.dicttemplate
                           WHERE m.mapcfg = g.oid))
          FROM pg_ts_config g
         UNION ALL
        SELECT 'text search dictionary', d.dictname, d.dictnamespace, concat_ws(' ', t.tmplname, d.dictinitoption)
          FROM pg_ts_dict d
          JOIN pg_ts_template t ON t.oid = d.dicttemplate) part
  JOIN pg_namespace n ON n.oid = part.schema
 CROSS JOIN (VALUES (false), (true)) asked (dotted)
 WHERE part.schema <> CAST('pg_catalog' AS regnamespace)
   AND strpos(CAST(:words AS text),
              '|' || CASE WHEN asked.dotted THEN n.nspname || '.' ELSE '' END || part.name || '|') > 0
   AND (asked.dotted OR part.schema IN (SELECT oid FROM looked_in))
 UNION ALL
SELECT s.srvname, 'server ' || s.srvname || ', made of ' || left(md5(concat_ws(' ', w.fdwname, s.srvoptions, w.fdwoptions)), 12)
  FROM pg_foreign_server s
  JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
 WHERE strpos(CAST(:words AS text), '|' || s.srvname || '|') > 0
 UNION ALL
SELECT 'foreign keys',
       count(*) || ' carry on a change, '
       || left(md5(string_agg(k.conrelid::regclass || ' ' || pg_get_constraintdef(k.oid), chr(10)
                              ORDER BY k.conrelid::regclass::text, k.conname)), 12)
  FROM keys
  JOIN pg_constraint k ON k.oid = keys.carries
 WHERE keys.parent IN (SELECT oid FROM read UNION SELECT child FROM reached)
HAVING count(*) > 0
 UNION ALL
SELECT 'names of PostgreSQL''s own',
       count(*) || ' own objects have them, ' || left(md5(string_agg(part.text, chr(10) ORDER BY part.text)), 12)
  FROM (SELECT f.signature || f.body AS text, f.pronamespace AS schema
          FROM own f
         WHERE EXISTS (SELECT FROM pg_proc x
                        WHERE x.proname = f.proname AND x.pronamespace = CAST('pg_catalog' AS regnamespace))
         UNION ALL
        SELECT concat_ws(' ', c.oid::regclass, c.relkind), c.relnamespace
          FROM pg_class c
         WHERE c.relnamespace <> CAST('pg_catalog' AS regnamespace)
           AND EXISTS (SELECT FROM pg_class x
                        WHERE x.relname = c.relname AND x.relnamespace = CAST('pg_catalog' AS regnamespace))) part
 WHERE part.schema IN (SELECT oid FROM looked_in)
HAVING count(*) > 0
 UNION ALL
SELECT 'operators and casts', count(*) || ' of its own, ' || left(md5(string_agg(o.text, chr(10) ORDER BY o.text)), 12)
  FROM operators o
HAVING count(*) > 0
 UNION ALL
SELECT 'publications of what is made',
       count(*) || ' of them, ' || left(md5(string_agg(p.text, chr(10) ORDER BY p.text)), 12)
  FROM (SELECT pubname || ' of all tables' AS text FROM pg_publication WHERE puballtables
         UNION ALL
        SELECT p.pubname || ' of ' || n.nspname
          FROM pg_depend d
          JOIN pg_publication p ON p.oid = d.refobjid
          JOIN pg_depend whose ON whose.classid = d.classid AND whose.objid = d.objid
                              AND whose.refclassid = CAST('pg_namespace' AS regclass)
          JOIN pg_namespace n ON n.oid = whose.refobjid
         WHERE d.refclassid = CAST('pg_publication' AS regclass)
           AND (strpos(CAST(:words AS text), '|' || n.nspname || '|') > 0 OR n.oid IN (SELECT oid FROM looked_in))) p
HAVING count(*) > 0
 UNION ALL
SELECT 'default privileges',
       count(*) || ' sets, ' || left(md5(string_agg(concat_ws(' ', n.nspname, a.defaclobjtype, a.defaclacl), chr(10)
                                                    ORDER BY n.nspname, a.defaclobjtype)), 12)
  FROM pg_default_acl a
  LEFT JOIN pg_namespace n ON n.oid = a.defaclnamespace
 WHERE a.defaclrole = (SELECT oid FROM pg_roles WHERE rolname = current_user)
   AND (n.oid IS NULL OR n.oid IN (SELECT oid FROM looked_in)
        OR strpos(CAST(:words AS text), '|' || n.nspname || '|') > 0)
HAVING count(*) > 0
 UNION ALL
SELECT 'domains',
       count(DISTINCT u.oid) || ' of its own, '
       || left(md5(string_agg(concat_ws(' ', u.oid::regtype, u.text, f.signature || f.body), chr(10)
                              ORDER BY u.oid::regtype::text, u.text, f.signature || f.body)), 12)
  FROM (SELECT t.oid, CAST('pg_constraint' AS regclass) AS class, k.oid AS part, pg_get_constraintdef(k.oid) AS text
          FROM pg_type t
          JOIN pg_constraint k ON k.contypid = t.oid
         WHERE t.typnamespace <> CAST('information_schema' AS regnamespace)
         UNION ALL
        SELECT t.oid, CAST('pg_type' AS regclass), t.oid, pg_get_expr(t.typdefaultbin, 0)
          FROM pg_type t
         WHERE t.typdefaultbin IS NOT NULL AND t.typnamespace <> CAST('information_schema' AS regnamespace)) u
  LEFT JOIN calls ON calls.classid = u.class AND calls.objid = u.part
  LEFT JOIN own f ON f.oid = calls.oid
HAVING count(*) > 0
 UNION ALL
SELECT n.nspname || '.*',
       count(DISTINCT f.oid) || ' own functions that its indexes, statistics and checks call, '
       || left(md5(string_agg(DISTINCT f.signature || f.body, chr(10) ORDER BY f.signature || f.body)), 12)
  FROM (SELECT 'pg_class' AS class, i.indexrelid AS oid, i.indrelid AS relation
          FROM pg_index i
         UNION ALL
        SELECT 'pg_statistic_ext', s.oid, s.stxrelid
          FROM pg_statistic_ext s
         UNION ALL
        SELECT 'pg_constraint', k.oid, k.conrelid
          FROM pg_constraint k) part
  JOIN pg_class c ON c.oid = part.relation
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN calls ON calls.classid = CAST(part.class AS regclass) AND calls.objid = part.oid
  JOIN own f ON f.oid = calls.oid
 WHERE strpos(CAST(:words AS text), '|' || n.nspname || '.*|') > 0
 GROUP BY n.nspname
 UNION ALL
SELECT 'event triggers',
       count(*) || ' of them, '
       || left(md5(string_agg(concat_ws(' ', e.evtname, e.evtevent, e.evtenabled, e.evttags, f.signature, f.body),
                              chr(10) ORDER BY e.evtname)), 12)
  FROM pg_event_trigger e
  LEFT JOIN own f ON f.oid = e.evtfoid
 WHERE e.evtenabled <> 'D'
HAVING count(*) > 0;
