package sqlite

import (
	"context"
	"database/sql"
	"sync"

	moderncsqlite "modernc.org/sqlite"
)

// image is an empty database as bytes. Copying it is much faster than migrating,
// and a simulation opens thousands of databases.
var image struct {
	mu    sync.Mutex
	bytes []byte
}

func emptyImage(ctx context.Context) ([]byte, error) {
	image.mu.Lock()
	defer image.mu.Unlock()
	if image.bytes != nil {
		return image.bytes, nil
	}
	connector, err := moderncsqlite.NewConnector(Memory)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	err = c.Raw(func(driver any) (err error) {
		image.bytes, err = driver.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	return image.bytes, err
}

// openMemory opens a private database in memory.
func openMemory(ctx context.Context) (*conn, error) {
	empty, err := emptyImage(ctx)
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, Memory, Memory)
	if err != nil {
		return nil, err
	}
	err = c.raw.Raw(func(driver any) error {
		return driver.(interface{ Deserialize([]byte) error }).Deserialize(empty)
	})
	for _, setting := range []string{"journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON"} {
		if err == nil {
			_, err = c.raw.ExecContext(c.ctx, "PRAGMA "+setting)
		}
	}
	if err == nil {
		err = c.setPragma("application_id", applicationID)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}
