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

// explain adds a cause and a fix to an error of SQLite. It returns other errors
// unchanged.
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
			WithFix("free some space there; coppice then continues automatically")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return unavailable(err, "the database %s cannot be written", path).
			WithFix("make the file, its directory and its file system writable for this user")
	case sqlite3.SQLITE_CANTOPEN:
		return unavailable(err, "the database %s cannot be opened", path).
			WithFix("make the file and its directory readable and writable for this user")
	case sqlite3.SQLITE_IOERR:
		return unavailable(err, "the disk of %s failed to read or write", dir).
			WithFix("check the system's log for disk errors, then start coppice serve again")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable(err, "another program has locked the database %s", path).
			WithFix("close other programs that have the file open")
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
		return &coppice.Error{Code: coppice.EConflict, Cause: "the name is already in use", Fix: "choose another name", Err: err}
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return &coppice.Error{Code: coppice.EInvalid, Cause: "it refers to something that does not exist", Err: err}
	}
	return err
}

func unavailable(err error, format string, args ...any) *coppice.Error {
	return &coppice.Error{Code: coppice.EUnavailable, Cause: fmt.Sprintf(format, args...), Err: err}
}

// damaged returns the error for a file that is not a valid database.
func damaged(path string, err error) *coppice.Error {
	return unavailable(err, "the database %s is damaged; it was not changed", path).
		WithFix("%s", restoreFix(path))
}

// listed says which command lists the rows of a kind.
var listed = map[string]string{
	"task":         "run `coppice list` to see the tasks",
	"session":      "run `coppice show` with the key of its task to see the sessions",
	"project":      "run `coppice project list` to see the projects",
	"check":        "run `coppice show --json` with the key of its task to see the checks",
	"note":         "run `coppice note list` to see the notes",
	"schedule":     "run `coppice schedule list` to see the schedules",
	"notice":       "the notices that ended first are removed",
	"notification": "run `coppice notify log` to see the notifications",
	"document":     "run `coppice flow show` with the key of the flow to see its documents",
	"landing":      "run `coppice show --json` with the key of its task to see the landings",
}

// lookup turns "no rows" into a not_found error that names the missing row.
func lookup(err error, what string, name any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return coppice.Errorf(coppice.ENotFound, "there is no %s %v", what, name).WithFix("%s", listed[what])
	}
	return err
}

// found returns nil and no error if there is no row.
func found[T any](v T, err error) (*T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}
