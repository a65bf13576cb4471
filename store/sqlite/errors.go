package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"

	moderncsqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"coppice"
)

// BackupsFolder is the name of the folder beside a database in which its
// automatic backups are kept.
const BackupsFolder = "backups"

var errClosed = coppice.Errorf(coppice.EUnavailable, "the store is closed").WithFix("start coppice serve again")

// explain turns an error of SQLite into one that a person can act on. Errors
// that are nobody's to act on stay as they are.
func explain(path string, err error) error {
	var e *moderncsqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	var seen *coppice.Error
	if errors.As(err, &seen) {
		return err
	}
	dir := filepath.Dir(path)
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return unavailable(err, "the disk of %s is full; nothing was changed", dir).
			WithFix("free some space there; coppice goes on by itself")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return unavailable(err, "the database %s cannot be written", path).
			WithFix("make the file, its directory and its file system writable for this user")
	case sqlite3.SQLITE_CANTOPEN:
		return unavailable(err, "the database %s cannot be opened", path).
			WithFix("make the file and its directory readable and writable for this user")
	case sqlite3.SQLITE_IOERR:
		return unavailable(err, "the disk of %s failed to read or write", dir).
			WithFix("look at the system's log for disk errors, then start coppice serve again")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable(err, "another program holds the database %s", path).
			WithFix("close what else has the file open")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path, err)
	case sqlite3.SQLITE_CONSTRAINT:
		return explainConstraint(e, err)
	}
	return err
}

func explainConstraint(e *moderncsqlite.Error, err error) error {
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return &coppice.Error{Code: coppice.EConflict, Cause: "there is one of that name already", Fix: "choose another name", Err: err}
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return &coppice.Error{Code: coppice.EInvalid, Cause: "it names something that is not there", Err: err}
	}
	return err
}

func unavailable(err error, format string, args ...any) *coppice.Error {
	return &coppice.Error{Code: coppice.EUnavailable, Cause: fmt.Sprintf(format, args...), Err: err}
}

// damaged is the error for a file that is not a sound database.
func damaged(path string, err error) *coppice.Error {
	return unavailable(err, "the database %s is damaged; it was left as it is", path).
		WithFix("%s", wayBack(path))
}

// listed tells where a person finds the names of things.
var listed = map[string]string{
	"task":    "`coppice list` shows the tasks there are",
	"session": "`coppice show` with its task's key shows the sessions there are",
	"project": "`coppice project list` shows the projects there are",
	"check":   "`coppice show` with its task's key and --json shows the checks there are",
	"landing": "`coppice show` with its task's key and --json shows the landings there are",
}

// lookup turns "no rows" into not_found, naming what was looked for.
func lookup(err error, what string, name any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return coppice.Errorf(coppice.ENotFound, "there is no %s %v", what, name).WithFix("%s", listed[what])
	}
	return err
}

// found returns nil, without error, where there may be no row.
func found[T any](v T, err error) (*T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}
