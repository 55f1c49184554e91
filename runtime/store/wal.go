package store

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// checkWAL looks at the write-ahead log before SQLite does. SQLite takes whatever stands there for the database's own, and writes it
// into the database for good.
func (s *Store) checkWAL() error {
	if s.walGone() {
		return &Error{
			Kind: KindDamaged, Op: "open", Path: s.path + "-wal", Err: errors.New("the -wal file is gone, and its -shm file is there"),
			Detail: "what was written last stood in it: put it back, or move the -shm file away to go on without",
		}
	}
	wal, err := os.Open(s.path + "-wal")
	if err != nil {
		return nil // none, or SQLite says what is the matter with it
	}
	defer wal.Close()
	own, err := identity(s.path)
	if err != nil {
		return wrapOS("open", s.path, err)
	}
	if other, found := walIdentity(wal); found && other != own {
		return &Error{
			Kind: KindDamaged, Op: "open", Path: s.path + "-wal", Err: errors.New("the -wal file is that of another database"),
			Detail: "put the right one back, or move it and the -shm file away",
		}
	}
	return nil
}

// walGone says that the log was taken away. SQLite makes it before the -shm file and removes it after, so the -shm file never stands
// alone; but they are looked at one after the other, while others open and close the database.
func (s *Store) walGone() bool {
	for range 3 {
		if _, err := os.Lstat(s.path + "-wal"); !errors.Is(err, os.ErrNotExist) {
			return false
		}
		if info, err := os.Lstat(s.path + "-shm"); err != nil || info.Size() == 0 {
			return false
		}
		s.pause()
	}
	return true
}

// identityAt is the place of the application id on page 1. Each database gets one of its own when it is made; older ones have 0.
const identityAt = 68

func identity(path string) (id [4]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return id, err
	}
	defer f.Close()
	_, err = f.ReadAt(id[:], identityAt)
	return id, err
}

// The log's header and the headers of its frames (https://sqlite.org/fileformat2.html#the_write_ahead_log).
const (
	walHeader, frameHeader = 32, 24
	walMagic               = 0x377f0682 // the last bit says how its sums are made
	maxFrames              = 4096       // looked at: page 1 is among the first when it is there
)

// walIdentity is the application id that the log will give its database; found is false when it holds no page 1, or is no log.
func walIdentity(wal io.ReaderAt) (id [4]byte, found bool) {
	var head [walHeader]byte
	if _, err := wal.ReadAt(head[:], 0); err != nil || binary.BigEndian.Uint32(head[:])&^1 != walMagic {
		return id, false
	}
	page, salts := int64(binary.BigEndian.Uint32(head[8:])), [8]byte(head[16:24])
	for n := range int64(maxFrames) {
		at := walHeader + n*(frameHeader+page)
		var frame [frameHeader]byte
		if _, err := wal.ReadAt(frame[:], at); err != nil || [8]byte(frame[8:16]) != salts {
			return id, false // its end: what follows is left over from earlier
		}
		if binary.BigEndian.Uint32(frame[:]) == 1 {
			_, err := wal.ReadAt(id[:], at+frameHeader+identityAt)
			return id, err == nil
		}
	}
	return id, false
}
