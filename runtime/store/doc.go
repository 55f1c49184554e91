// Package store keeps what outlives a process: runs and their journals, construction routes, turns, owner
// records and locks.
//
//	state directory (0700)
//	├── xmd.db                SQLite, WAL, synchronous=FULL, one writer at a time over all processes
//	│     run, record         what a run did, append-only          → Tx.BeginRun, Tx.Append, Store.Records, Store.Prune
//	│     route               how a generation was constructed     → Tx.CreateRoute (create-once), Tx.Current, Tx.Routes
//	│     opened, run_session native ids as soon as they are known → Tx.PutOpened, Tx.LastOpened
//	│     turn, mark          what was accepted, what was said     → Tx.PutTurn, Tx.LastTurns, Tx.PutMark, Tx.Move, Tx.Restart
//	│     conversation, entry the log of a Conversation            → Tx.AddEntry, Tx.EndEntry, Tx.Entries, Tx.SetPoint
//	│     party, told         how far an agent has come in it, and what generations were told
//	│     pending             what becomes true with acceptance    → Tx.PutPending, Tx.TakePending
//	│     owner               idle, turn or native                 → Store.Claim, Tx.SetOwner
//	├── locks/                kernel locks: session, run           → Store.TryLock, Store.Wait
//	└── (user's) locks/       kernel locks: native id, whatever the state directory
//
// All records of one Store.Do are durable when it returns nil, and none of them exist when it returns an error.
// Reading is strict: what this build cannot account for is an error, never an absence. A key says where a session lives; what is
// recorded of a session that was moved stays under the key it was recorded for, and every method follows the mark.
package store
