-- Schema 2: Conversations, and what sessions were told beside the words of their prompts. It is schema 1 and this.
UPDATE store SET version = 2;

-- session is the name that the Conversation's sessions have in all other tables; one that has no name is its run's.
CREATE TABLE conversation (
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	last INTEGER NOT NULL,
	point INTEGER NOT NULL,
	forgotten INTEGER NOT NULL,
	time INTEGER NOT NULL,
	PRIMARY KEY (session, root)
) WITHOUT ROWID;

CREATE TABLE entry (
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	number INTEGER NOT NULL,
	agent TEXT NOT NULL,
	generation INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	record TEXT NOT NULL,
	sum TEXT NOT NULL,
	PRIMARY KEY (session, root, number)
) WITHOUT ROWID;
CREATE INDEX entry_turn ON entry (session, root, agent, generation, turn);

CREATE TRIGGER entry_never_changes BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_created_once BEFORE INSERT ON entry
WHEN EXISTS (SELECT 1 FROM entry WHERE session = NEW.session AND root = NEW.root AND (number = NEW.number
	OR agent = NEW.agent AND generation = NEW.generation AND turn = NEW.turn))
BEGIN SELECT RAISE(ABORT, 'an entry is created once'); END;

-- How the turn of an entry ended.
CREATE TABLE entry_end (
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	number INTEGER NOT NULL,
	record TEXT NOT NULL,
	sum TEXT NOT NULL,
	PRIMARY KEY (session, root, number)
) WITHOUT ROWID;

CREATE TRIGGER entry_end_never_changes BEFORE UPDATE ON entry_end
BEGIN SELECT RAISE(ABORT, 'the end of an entry is never changed'); END;
CREATE TRIGGER entry_end_created_once BEFORE INSERT ON entry_end
WHEN EXISTS (SELECT 1 FROM entry_end WHERE session = NEW.session AND root = NEW.root AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the end of an entry is created once'); END;

-- Per agent of a Conversation: its current generation, and the last entry that its provider conversation holds.
CREATE TABLE party (
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	agent TEXT NOT NULL,
	generation INTEGER NOT NULL,
	seen INTEGER NOT NULL,
	PRIMARY KEY (session, root, agent)
) WITHOUT ROWID;

-- Digests of what a generation was told last.
CREATE TABLE told (
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	instructions TEXT NOT NULL,
	tools TEXT NOT NULL,
	PRIMARY KEY (agent, session, root, generation)
) WITHOUT ROWID;

-- What becomes true when the provider is known to have the words of a turn.
CREATE TABLE pending (
	agent TEXT NOT NULL,
	session TEXT NOT NULL,
	root TEXT NOT NULL,
	generation INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	record TEXT NOT NULL,
	sum TEXT NOT NULL,
	PRIMARY KEY (agent, session, root, generation, turn)
) WITHOUT ROWID;
