-- Schema 1. The single row of store says which; a build refuses any number but those it knows.
CREATE TABLE store (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	version INTEGER NOT NULL
);
INSERT INTO store (id, version) VALUES (1, 1);

-- Times are milliseconds since 1970 UTC. They are shown, and order nothing.
CREATE TABLE run (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	document TEXT NOT NULL,
	dir TEXT NOT NULL,
	sources TEXT NOT NULL,
	props TEXT NOT NULL,
	settings TEXT NOT NULL,
	started INTEGER NOT NULL,
	ended INTEGER,
	outcome TEXT,
	exit_code INTEGER
);

CREATE TABLE record (
	run TEXT NOT NULL,
	seq INTEGER NOT NULL,
	step TEXT NOT NULL,
	kind TEXT NOT NULL,
	time INTEGER NOT NULL,
	data TEXT NOT NULL,
	PRIMARY KEY (run, seq)
) WITHOUT ROWID;

CREATE TRIGGER record_never_changes BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'a journal record is never changed'); END;
CREATE TRIGGER record_created_once BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE run = NEW.run AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'a journal record is created once'); END;

CREATE TABLE route (
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	native_id TEXT NOT NULL,
	record TEXT NOT NULL,
	sum TEXT NOT NULL,
	PRIMARY KEY (agent, session, root, generation)
) WITHOUT ROWID;
CREATE INDEX route_native ON route (agent, native_id);

CREATE TRIGGER route_never_changes BEFORE UPDATE ON route
BEGIN SELECT RAISE(ABORT, 'a route is never changed'); END;
CREATE TRIGGER route_never_deleted BEFORE DELETE ON route
BEGIN SELECT RAISE(ABORT, 'a route is never deleted'); END;
-- INSERT OR REPLACE deletes without firing a delete trigger: it is stopped before it can.
CREATE TRIGGER route_created_once BEFORE INSERT ON route
WHEN EXISTS (SELECT 1 FROM route WHERE agent = NEW.agent AND session = NEW.session
	AND root = NEW.root AND generation = NEW.generation)
BEGIN SELECT RAISE(ABORT, 'a route is created once'); END;

CREATE TABLE opened (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	native_id TEXT NOT NULL,
	transport TEXT NOT NULL,
	run TEXT NOT NULL,
	time INTEGER NOT NULL
);
CREATE INDEX opened_key ON opened (agent, session, root, generation);

-- The same for unnamed sessions, which belong to a run and go with it.
CREATE TABLE run_session (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	run TEXT NOT NULL,
	agent TEXT NOT NULL,
	scope TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	native_id TEXT NOT NULL,
	transport TEXT NOT NULL,
	time INTEGER NOT NULL
);
CREATE INDEX run_session_key ON run_session (run, agent, scope, root, generation);

CREATE TABLE owner (
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	state TEXT NOT NULL,
	pid INTEGER NOT NULL,
	boot_id TEXT NOT NULL,
	run TEXT NOT NULL,
	step TEXT NOT NULL,
	native_id TEXT NOT NULL,
	since INTEGER NOT NULL,
	PRIMARY KEY (agent, session, root)
) WITHOUT ROWID;

CREATE TABLE turn (
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	number INTEGER NOT NULL,
	run TEXT NOT NULL,
	step TEXT NOT NULL,
	time INTEGER NOT NULL,
	words_digest TEXT NOT NULL,
	words_letters INTEGER NOT NULL,
	reply_digest TEXT NOT NULL,
	reply_letters INTEGER NOT NULL,
	accepted TEXT NOT NULL,
	PRIMARY KEY (agent, session, root, generation, number)
) WITHOUT ROWID;

CREATE TABLE mark (
	number INTEGER PRIMARY KEY AUTOINCREMENT,
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	name TEXT NOT NULL,
	run TEXT NOT NULL,
	time INTEGER NOT NULL,
	data TEXT NOT NULL
);
CREATE INDEX mark_key ON mark (agent, session, root, generation, name);
