-- A store of version 9 with one run, as SQL: version 8 brought to version 9, with marks of its log under several names.
PRAGMA application_id = 1684169076;
BEGIN TRANSACTION;
CREATE TABLE artifact (
	run TEXT NOT NULL, 
	trial INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	media_type TEXT NOT NULL, 
	size_bytes BIGINT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (run, trial, name), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
);
INSERT INTO "artifact" VALUES('20261121-051342-ab3f',0,'script.sql','text/sql',8,X'53454C4543542031');
CREATE TABLE audit_mark (path TEXT NOT NULL, log TEXT NOT NULL, line_count INTEGER NOT NULL, last_hash TEXT NOT NULL, marked_at TEXT NOT NULL, PRIMARY KEY (path));
INSERT INTO "audit_mark" VALUES('db1:/here/store.sqlite.audit.jsonl','aa',9,'00','2026-11-21T05:50:41.337349Z');
INSERT INTO "audit_mark" VALUES('db1:/here/store.sqlite.audit.jsonl sealed','4000',8,'11','2026-11-22T05:50:41.337349Z');
INSERT INTO "audit_mark" VALUES('db2:/there/store.sqlite.audit.jsonl','bb',7,'22','2026-11-22T05:50:40.337349Z');
CREATE TABLE environment (
	run TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT, 
	value_type TEXT NOT NULL, 
	PRIMARY KEY (run, position), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "environment" VALUES('20261121-051342-ab3f',0,'cpu','2','integer');
INSERT INTO "environment" VALUES('20261121-051342-ab3f',1,'host','db1','text');
CREATE TABLE facts (
	run TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
);
INSERT INTO "facts" VALUES('20261121-051342-ab3f','{"a": 1}');
CREATE TABLE item (
	trial_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	label TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	elapsed_seconds DOUBLE, 
	begin_seconds DOUBLE, 
	worker INTEGER NOT NULL, 
	row_count BIGINT, 
	size_bytes BIGINT, 
	reason TEXT, 
	error_code TEXT, 
	PRIMARY KEY (trial_id, position), 
	FOREIGN KEY(trial_id) REFERENCES trial (trial_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "item" VALUES(1,0,'IX_B','ok',0.5,0.1,1,7,8589934592,NULL,NULL);
INSERT INTO "item" VALUES(1,1,'IX_A','failed',NULL,0.1,1,7,8589934592,'no space',NULL);
CREATE TABLE journal (
	run TEXT NOT NULL, 
	entry INTEGER NOT NULL, 
	trial INTEGER, 
	state TEXT NOT NULL, 
	effect TEXT NOT NULL, 
	object_kind TEXT NOT NULL, 
	schema_name TEXT, 
	name TEXT NOT NULL, 
	scratch BOOLEAN NOT NULL, 
	table_schema TEXT, 
	table_name TEXT, 
	undo TEXT NOT NULL, 
	proof TEXT NOT NULL, 
	identity TEXT NOT NULL, 
	intended_at TEXT NOT NULL, 
	changed_at TEXT, 
	PRIMARY KEY (run, entry), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
);
INSERT INTO "journal" VALUES('20261121-051342-ab3f',1,1,'intended','creates','table','GLENNF','DBATK_1',1,'GLENNF','GTEST','["DROP TABLE x"]','{"free": true}','{}','2026-11-21T05:50:41.352960Z',NULL);
CREATE TABLE lease (
	target TEXT NOT NULL, 
	run TEXT NOT NULL, 
	host TEXT NOT NULL, 
	pid INTEGER NOT NULL, 
	process_began DOUBLE NOT NULL, 
	acquired_at TEXT NOT NULL, 
	heartbeat_at TEXT NOT NULL, boot TEXT, 
	PRIMARY KEY (target)
);
CREATE TABLE metric (
	trial_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	value DOUBLE NOT NULL, 
	unit TEXT NOT NULL, 
	source TEXT NOT NULL, 
	PRIMARY KEY (trial_id, position), 
	FOREIGN KEY(trial_id) REFERENCES trial (trial_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "metric" VALUES(1,0,'redo',1000000000000.0,'bytes','vstat');
INSERT INTO "metric" VALUES(1,1,'redo',-0.5,'bytes','awr');
CREATE TABLE phase (
	trial_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	elapsed_seconds DOUBLE NOT NULL, 
	PRIMARY KEY (trial_id, position), 
	FOREIGN KEY(trial_id) REFERENCES trial (trial_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "phase" VALUES(1,0,'prepare',0.25);
INSERT INTO "phase" VALUES(1,1,'evidence',0.125);
CREATE TABLE plan_note (plan_run TEXT NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, text TEXT NOT NULL, noted_at TEXT NOT NULL, PRIMARY KEY (plan_run, position), FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE);
CREATE TABLE plan_run (plan_run TEXT NOT NULL, plan TEXT NOT NULL, plan_hash TEXT NOT NULL, state TEXT NOT NULL, began_at TEXT NOT NULL, ended_at TEXT, window_begin TEXT, window_end TEXT, host TEXT NOT NULL, stopped_by TEXT, text TEXT NOT NULL, PRIMARY KEY (plan_run));
CREATE TABLE plan_step (plan_run TEXT NOT NULL, position INTEGER NOT NULL, target TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, reason TEXT, run TEXT, tries INTEGER NOT NULL, began_at TEXT, ended_at TEXT, expected_seconds DOUBLE, slow_seconds DOUBLE, size_bytes DOUBLE, size_rows DOUBLE, verified TEXT, unverified TEXT, PRIMARY KEY (plan_run, position), FOREIGN KEY(plan_run) REFERENCES plan_run (plan_run) ON DELETE CASCADE);
CREATE TABLE run (
	run TEXT NOT NULL, 
	parent_run TEXT, 
	label TEXT, 
	name TEXT, 
	mode TEXT NOT NULL, 
	state TEXT NOT NULL, 
	target TEXT NOT NULL, 
	target_name TEXT NOT NULL, 
	engine TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	operation_version INTEGER NOT NULL, 
	tool_version TEXT NOT NULL, 
	began_at TEXT NOT NULL, 
	ended_at TEXT, 
	seed BIGINT NOT NULL, 
	trials_planned INTEGER NOT NULL, 
	experiment TEXT NOT NULL, 
	PRIMARY KEY (run)
);
INSERT INTO "run" VALUES('20261121-051342-ab3f',NULL,'nightly','gtest-ctas','measurement','running','dwh','duckdb file','duckdb','ctas',2,'0.1.0','2026-11-21T05:13:42.123456Z',NULL,1099511627776,12,'{"format": 1, "target": "dwh", "operation": "ctas", "options": {"source": "GLENNF.GTEST", "columns": ["a", "b"], "bare": true, "sample": 12.5, "n": 3}, "factors": [{"name": "degree", "levels": [1, 2, 4], "unit": null, "command": null}, {"name": "read_ahead", "levels": [256, 1024], "unit": "sectors", "command": {"read": ["blockdev", "--getra"], "apply": [], "undo": [], "read_sql": "", "apply_sql": "", "undo_sql": ""}}], "mode": "measurement", "repeat": 3, "warmup": 1, "name": "gtest-ctas", "label": "nightly", "seed": 1099511627776, "snapshot": "auto", "keep": "best", "work_schema": null, "budget_seconds": 7200.0, "time_limit_seconds": null, "quiet_wait_seconds": null}');
CREATE TABLE sample (
	trial_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	at_seconds DOUBLE NOT NULL, 
	name TEXT NOT NULL, 
	value DOUBLE NOT NULL, 
	PRIMARY KEY (trial_id, position), 
	FOREIGN KEY(trial_id) REFERENCES trial (trial_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "sample" VALUES(1,0,0.0,'cpu',1.0);
INSERT INTO "sample" VALUES(1,1,1.0,'cpu',5.0);
INSERT INTO "sample" VALUES(1,2,2.0,'cpu',2.0);
CREATE TABLE schema_version (
	version INTEGER NOT NULL, 
	applied_at TEXT NOT NULL, 
	tool_version TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_version" VALUES(1,'2026-11-21T05:50:41.300154Z','0.1.0');
INSERT INTO "schema_version" VALUES(2,'2026-11-21T12:00:00.000000Z','0.1.0');
INSERT INTO "schema_version" VALUES(3,'2026-11-21T21:43:57.034161Z','0.1.0');
INSERT INTO "schema_version" VALUES(4,'2026-11-22T00:57:21.653299Z','0.1.0');
INSERT INTO "schema_version" VALUES(5,'2026-11-22T01:02:50.301337Z','0.1.0');
INSERT INTO "schema_version" VALUES(6,'2026-11-22T01:02:50.301337Z','0.1.0');
INSERT INTO "schema_version" VALUES(7,'2026-11-22T01:10:00.301337Z','0.1.0');
INSERT INTO "schema_version" VALUES(8,'2026-11-22T14:06:50.660585Z','0.1.0');
INSERT INTO "schema_version" VALUES(9,'2026-11-22T18:06:50.660585Z','0.1.0');
CREATE TABLE snapshot (
	snapshot_id INTEGER NOT NULL, 
	run TEXT, 
	trial INTEGER, 
	label TEXT NOT NULL, 
	target_name TEXT NOT NULL, 
	provider TEXT NOT NULL, 
	taken_at TEXT NOT NULL, 
	identity TEXT NOT NULL, 
	PRIMARY KEY (snapshot_id), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
);
CREATE TABLE snapshot_state (snapshot_id INTEGER NOT NULL, size_bytes BIGINT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (snapshot_id), FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE);
CREATE TABLE snapshot_value (
	snapshot_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT, 
	value_type TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	PRIMARY KEY (snapshot_id, position), 
	FOREIGN KEY(snapshot_id) REFERENCES snapshot (snapshot_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
CREATE TABLE trial (
	trial_id INTEGER NOT NULL, 
	run TEXT NOT NULL, 
	trial INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	repeat INTEGER NOT NULL, 
	began_at TEXT NOT NULL, 
	ended_at TEXT, 
	outcome TEXT, 
	reason TEXT, 
	error_code TEXT, 
	elapsed_seconds DOUBLE, 
	requested_degree INTEGER, 
	granted_degree INTEGER, 
	granted_source TEXT, 
	effective_parallelism DOUBLE, 
	row_count BIGINT, 
	size_bytes BIGINT, 
	disturbed BOOLEAN NOT NULL, 
	PRIMARY KEY (trial_id), 
	UNIQUE (run, trial, attempt), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
);
INSERT INTO "trial" VALUES(1,'20261121-051342-ab3f',1,1,1,'2026-11-21T05:13:43.123456Z','2026-11-21T05:13:44.623456Z','downgraded','4 asked for, 2 granted','ORA-12827',1.41421356237309514547e+00,4,2,'v$pq_sesstat',1.9,1099511627776,2199023255552,1);
INSERT INTO "trial" VALUES(2,'20261121-051342-ab3f',2,1,2,'2026-11-21T05:13:42.123456Z',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE trial_factor (
	trial_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	factor TEXT NOT NULL, 
	level TEXT, 
	level_type TEXT NOT NULL, 
	PRIMARY KEY (trial_id, position), 
	FOREIGN KEY(trial_id) REFERENCES trial (trial_id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "trial_factor" VALUES(1,0,'degree','4','integer');
INSERT INTO "trial_factor" VALUES(1,1,'compression','none','text');
INSERT INTO "trial_factor" VALUES(1,2,'ratio','2.0','real');
INSERT INTO "trial_factor" VALUES(1,3,'bare','yes','boolean');
INSERT INTO "trial_factor" VALUES(2,0,'degree','4','integer');
INSERT INTO "trial_factor" VALUES(2,1,'compression','none','text');
INSERT INTO "trial_factor" VALUES(2,2,'ratio','2.0','real');
INSERT INTO "trial_factor" VALUES(2,3,'bare','yes','boolean');
CREATE TABLE warning (
	run TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	warned_at TEXT NOT NULL, 
	PRIMARY KEY (run, position), 
	FOREIGN KEY(run) REFERENCES run (run) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "warning" VALUES('20261121-051342-ab3f',0,'noise','2026-11-21T05:50:41.337349Z');
CREATE INDEX ix_run_parent_run ON run (parent_run);
CREATE INDEX ix_lease_run ON lease (run);
CREATE INDEX ix_snapshot_run ON snapshot (run);
CREATE INDEX ix_snapshot_label ON snapshot (label);
CREATE INDEX journal_open ON journal (state, run);
CREATE INDEX run_newest ON run (began_at, run);
CREATE INDEX run_label ON run (label, began_at);
CREATE INDEX trial_ended ON trial (run, outcome, trial);
CREATE INDEX plan_newest ON plan_run (plan, began_at);
CREATE INDEX step_history ON plan_step (step, target, ended_at);
COMMIT;
