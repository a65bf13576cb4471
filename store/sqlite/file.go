package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/pressly/goose/v3"
	moderncsqlite "modernc.org/sqlite"

	"coppice"
)

// applicationID is in the header of every database of Coppice: "COPP".
const applicationID = 0x434f5050

const magic = "SQLite format 3\x00"

//go:embed migrations/*.sql
var embedded embed.FS

// migrations returns the files of the schema. Each name starts with its version.
func migrations() fs.FS {
	sub, err := fs.Sub(embedded, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// prepare creates the file, or checks that it is a database of Coppice, and
// updates its schema. It returns a connection of the given data source.
// Unchecked reports that the database must still be checked: it is large and was
// not closed cleanly.
func prepare(ctx context.Context, path, source string, log *slog.Logger) (_ *conn, unchecked bool, err error) {
	fresh, err := makeFile(path)
	if err != nil {
		return nil, false, err
	}
	unclean, err := removeMark(path)
	if err != nil {
		return nil, false, err
	}
	c, err := dial(ctx, path, source)
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	version, known := int64(0), latest()
	if !fresh {
		if version, err = inspect(c); err != nil {
			return nil, false, err
		}
		if info, err := os.Stat(path); unclean && (err != nil || info.Size() <= checkOnOpen || version != known) {
			if err := c.check(ctx); err != nil {
				return nil, false, err
			}
			unclean = false
		}
	}
	if version == known {
		return c, unclean, nil
	}
	if err := upgrade(ctx, c, version, log); err != nil {
		return nil, false, err
	}
	updated, err := dial(ctx, path, source)
	return updated, false, err
}

// upgrade updates the schema, and closes the connection.
func upgrade(ctx context.Context, c *conn, version int64, log *slog.Logger) error {
	path := c.path
	if err := c.setPragma("application_id", applicationID); err != nil {
		return err
	}
	var mode string
	if err := c.raw.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return unavailable(nil, "the file system of %s cannot keep a write-ahead log", filepath.Dir(path)).
			WithFix("keep Coppice's state on a local disk")
	}
	if err := c.close(); err != nil {
		return err
	}
	log.Info("updating the schema of the database", "path", path, "from", version, "to", latest())
	err := migrateFile(ctx, path)
	// Goose reads each migration into a buffer of 4 MiB. The collector would take
	// them for what the program always needs, and next run at five times as much.
	debug.FreeOSMemory()
	return err
}

// makeFile creates the file if it does not exist, readable only by its owner, and
// reports whether it is empty.
func makeFile(path string) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
			return false, damaged(path, errors.New("the file is missing, but its write-ahead log exists"))
		}
		if copies := saved(path); len(copies) > 0 {
			return false, unavailable(nil, "the database %s is missing; Coppice saved a copy when it disappeared", path).
				WithFix("restore it with: coppice restore %s; to start with an empty database, move that copy away", copies[0])
		}
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return false, unwritable(filepath.Dir(path), err)
	}
	defer f.Close()
	head := make([]byte, len(magic))
	n, err := io.ReadFull(f, head)
	if n == 0 && errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil || string(head) != magic {
		return false, damaged(path, errors.New("it does not have the header of a database"))
	}
	return false, nil
}

// inspect checks that an open database belongs to Coppice and returns the version
// of its schema. It changes nothing.
func inspect(c *conn) (version int64, err error) {
	id, err := c.pragma("application_id")
	if err != nil {
		return 0, err
	}
	tables, err := c.count("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	if id != applicationID && (id != 0 || tables > 0) {
		return 0, coppice.Errorf(coppice.EInvalid, "%s is the database of another program; it was not changed", c.path).
			WithFix("choose another state directory")
	}
	versioned, err := c.count("SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'")
	if err != nil || versioned == 0 {
		return 0, err
	}
	version, err = c.count("SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied")
	if err != nil {
		return 0, err
	}
	if known := latest(); version > known {
		return 0, coppice.Errorf(coppice.EConflict,
			"the database %s was created by a newer Coppice (schema version %d; this one supports %d)", c.path, version, known).
			WithFix("use the newer Coppice, or restore a backup from this version")
	}
	return version, nil
}

func (c *conn) count(query string) (n int64, err error) {
	err = c.raw.QueryRowContext(c.ctx, query).Scan(&n)
	return n, err
}

// latest returns the version of the newest migration.
var latest = sync.OnceValue(func() int64 {
	var newest int64
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		v, err := goose.NumericComponent(name)
		if err != nil {
			panic(err) // the name is embedded
		}
		newest = max(newest, v)
	}
	return newest
})

func migrateFile(ctx context.Context, path string) error {
	connector, err := moderncsqlite.NewConnector(dsn(path, "synchronous(full)"))
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	return migrate(ctx, db)
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrating the database: %w", err)
	}
	return nil
}
