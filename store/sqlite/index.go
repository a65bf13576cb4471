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

// indexVersion changes with the schema or the content of the index. An index of
// another version is built again.
const indexVersion = 4

var errIndexVersion = errors.New("the search index has another version")

//go:embed index/schema.sql
var indexSchema string

// IndexFile is the name of the index beside a database.
const IndexFile = "search.db"

// IndexConfig says where an Index is kept.
type IndexConfig struct {
	Path   string       // of its file, or Memory
	Store  *Store       // the store that it follows; a store has at most one Index
	Logger *slog.Logger // nil discards
	// Gather is the pause between a commit and reading it, so that several commits
	// are read together; 0 means 200 ms. If it is negative, the index never pauses,
	// not even while others write.
	Gather time.Duration
}

// Index finds tasks, output and checks by their words. It is a separate file that
// is built from the database. It takes part in no transaction of the store and
// blocks none. A lost or damaged index is built again. Run keeps it up to date.
// Search can be called from any goroutine.
type Index struct {
	cfg     IndexConfig
	store   *Store
	log     *slog.Logger
	news    *watcher
	readers chan *conn
	writer  chan *conn     // the same channel in Memory
	read    atomic.Uint64  // the number of commits that it has read, plus 1
	dirty   map[int64]bool // sessions with output to read; only Run uses it
	scan    *taskScan      // the running scan of all tasks; only Run uses it
	closed  sync.Once
	mu      sync.Mutex
	idle    chan struct{} // closed when everything is read, and then replaced
	full    int64         // pieces after which another shard is added
}

var _ store.Searcher = (*Index)(nil)

// indexReaders is the number of searches that run at the same time.
const indexReaders = 2

// OpenIndex opens an index, or creates it. The store must be closed after it.
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
			cfg.Logger.Info("the search index has another version; it is built again in the background", "path", cfg.Path)
		} else {
			cfg.Logger.Warn("the search index cannot be used; it is built again in the background", "path", cfg.Path, "error", err)
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
	opened := c // to close it after a failure
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
	return nil, fmt.Errorf("%w: it has version %d, not %d", errIndexVersion, version, indexVersion)
}

// all runs statements without keeping them prepared.
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
				WithFix("remove the file; coppice builds it again")
		}
	}
	return nil
}

// Close closes the index. Closing it again does nothing. Neither Run nor Search
// must be running.
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

// behind reports whether there are commits that have not been read.
func (x *Index) behind() bool { return x.read.Load() != x.news.seen()+1 }

// Wait returns when everything committed before the call has been read.
func (x *Index) Wait(ctx context.Context) error {
	for committed := x.news.seen(); ; {
		x.mu.Lock()
		idle := x.idle
		x.mu.Unlock()
		if x.read.Load() > committed {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-idle:
		}
	}
}

// hasRead records how many commits have been read, and ends the waits for them.
func (x *Index) hasRead(commits uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.read.Store(commits + 1)
	close(x.idle)
	x.idle = make(chan struct{})
}

// with runs f with a connection of a pool.
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
