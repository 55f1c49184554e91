-- Schema 3: the journal as a table that grows at its end. It is schema 2 and this. Without a rowid, the place of a new record was found
-- by reading others whole, and an agent's text is long.
UPDATE store SET version = 3;

DROP TRIGGER record_never_changes;
DROP TRIGGER record_created_once;
ALTER TABLE record RENAME TO record_2;

CREATE TABLE record (
	run TEXT NOT NULL,
	seq INTEGER NOT NULL,
	step TEXT NOT NULL,
	kind TEXT NOT NULL,
	time INTEGER NOT NULL,
	data TEXT NOT NULL,
	PRIMARY KEY (run, seq)
);
INSERT INTO record SELECT run, seq, step, kind, time, data FROM record_2 ORDER BY run, seq;
DROP TABLE record_2;

CREATE TRIGGER record_never_changes BEFORE UPDATE ON record
BEGIN SELECT RAISE(ABORT, 'a journal record is never changed'); END;
CREATE TRIGGER record_created_once BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE run = NEW.run AND seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'a journal record is created once'); END;
