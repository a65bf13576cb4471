package sqlite

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"coppice"
	"coppice/store"
)

// indexVersion changes with the schema of the index or with what is put into
// it; an index of another version is made anew.
const indexVersion = 3

var errIndexVersion = errors.New("the search index is of another version")

//go:embed index/schema.sql
var indexSchema string

// IndexFile is the name of the index beside a database.
const IndexFile = "search.db"

// IndexConfig says where an Index is kept.
type IndexConfig struct {
	Path   string       // of its file, or Memory
	Store  *Store       // what it follows; only one Index may
	Logger *slog.Logger // nil discards
	// Gather is how long it waits after something was written before it reads,
	// so that much is taken at once: 200 ms when 0. When negative it never waits,
	// not even to leave the machine to those who write.
	Gather time.Duration
}

// Index finds tasks, output and checks by their words. It is a file of its own, beside
// the truth and made from it: keeping it neither takes part in a transaction of
// the store nor waits for one, and a lost or broken one is made anew. Run keeps
// it up to date; Search may be called from any goroutine.
type Index struct {
	cfg     IndexConfig
	store   *Store
	log     *slog.Logger
	news    *watcher
	readers chan *conn
	writer  chan *conn     // the same channel in Memory
	read    atomic.Uint64  // how many of the store's commits it has read, and 1
	dirty   map[int64]bool // sessions with output to read; Run's own
	scan    *taskScan      // of all tasks, while one is under way; likewise
	closed  sync.Once
	mu      sync.Mutex
	idle    chan struct{} // closed when everything is read; then there is another
	full    int64         // pieces after which a further shard is begun
}

var _ store.Searcher = (*Index)(nil)

// indexReaders is how many searches run at once.
const indexReaders = 2

// OpenIndex opens an index, or makes it. The store must not be closed before it.
func OpenIndex(ctx context.Context, cfg IndexConfig) (*Index, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Gather == 0 {
		cfg.Gather = 200 * time.Millisecond
	}
	x := &Index{cfg: cfg, store: cfg.Store, log: cfg.Logger, writer: make(chan *conn, 1), dirty: map[int64]bool{}, idle: make(chan struct{}), full: shardPieces}
	w, err := openIndex(ctx, cfg.Path)
	if err != nil && cfg.Path != Memory && ctx.Err() == nil {
		if errors.Is(err, errIndexVersion) {
			cfg.Logger.Info("the search index is made anew, in the background: another version of it is wanted", "path", cfg.Path)
		} else {
			cfg.Logger.Warn("the search index cannot be used; it is made anew", "path", cfg.Path, "error", err)
		}
		if err := removeIndex(cfg.Path); err != nil {
			return nil, err
		}
		w, err = openIndex(ctx, cfg.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the search index: %w", explain(cfg.Path, err))
	}
	x.writer <- w
	x.readers = x.writer
	if cfg.Path != Memory {
		x.readers = make(chan *conn, indexReaders)
		for range indexReaders {
			r, err := dial(ctx, cfg.Path, dsn(cfg.Path, "query_only(1)"))
			if err != nil {
				x.Close()
				return nil, fmt.Errorf("opening the search index: %w", explain(cfg.Path, err))
			}
			x.readers <- r
		}
	}
	x.news = x.store.watchTopics(store.TopicLog, store.TopicSessions)
	return x, nil
}

func openIndex(ctx context.Context, path string) (c *conn, err error) {
	name := Memory
	if path != Memory {
		name = dsn(path, "journal_mode(wal)", "synchronous(normal)", "cache_size(-8192)")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	if c, err = dial(ctx, path, name); err != nil {
		return nil, err
	}
	opened := c // which a failure leaves behind
	defer func() {
		if err != nil {
			opened.close()
		}
	}()
	version, err := c.pragma("user_version")
	if err != nil {
		return nil, err
	}
	switch version {
	case indexVersion:
		return c, nil
	case 2: // whose shards began with sessions
		return c, c.all("BEGIN", "ALTER TABLE shards RENAME COLUMN first_session TO first_row",
			fmt.Sprintf("UPDATE shards SET first_row = first_row << %d", placeBits), fmt.Sprintf("PRAGMA user_version = %d", indexVersion), "COMMIT")
	case 0:
		err := c.all("BEGIN", indexSchema, fmt.Sprintf("PRAGMA user_version = %d", indexVersion))
		if err == nil {
			err = c.addShard(1, 0)
		}
		if err == nil {
			err = c.all("COMMIT")
		}
		return c, err
	}
	return nil, fmt.Errorf("%w: it is of version %d, not %d", errIndexVersion, version, indexVersion)
}

// all runs statements that are not worth keeping.
func (c *conn) all(queries ...string) error {
	for _, q := range queries {
		if _, err := c.raw.ExecContext(c.ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// removeIndex removes an index that is not open.
func removeIndex(path string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return coppice.Errorf(coppice.EUnavailable, "the search index %s cannot be removed: %w", path, err).
				WithFix("remove it by hand; it is made anew")
		}
	}
	return nil
}

// Close closes the index; closing twice does nothing more. Neither Run nor
// Search may be running.
func (x *Index) Close() (err error) {
	x.closed.Do(func() {
		x.news.Close()
		if x.readers != x.writer {
			for range len(x.readers) {
				err = errors.Join(err, (<-x.readers).close())
			}
		}
		err = errors.Join(err, (<-x.writer).close())
	})
	return err
}

// behind tells whether something was committed that has not been read.
func (x *Index) behind() bool { return x.read.Load() != x.news.seen()+1 }

// Wait returns when everything committed so far has been read.
func (x *Index) Wait(ctx context.Context) error {
	for {
		x.mu.Lock()
		idle := x.idle
		x.mu.Unlock()
		if !x.behind() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle:
		}
	}
}

// hasRead records that the first commits are read, and ends the waits for that.
func (x *Index) hasRead(commits uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read.Store(commits + 1)
	close(x.idle)
	x.idle = make(chan struct{})
}

// with lends a connection of a pool.
func with(ctx context.Context, pool chan *conn, f func(*conn) error) error {
	select {
	case c := <-pool:
		defer func() { pool <- c }()
		return f(c)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// change runs f in a transaction of the index.
func (x *Index) change(ctx context.Context, f func(*conn) error) error {
	return with(ctx, x.writer, func(c *conn) (err error) {
		if err := c.run("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, c.run("ROLLBACK"))
			}
		}()
		if err := f(c); err != nil {
			return err
		}
		return c.run("COMMIT")
	})
}
