package sqlite

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

// Memory is the path of a private database that is lost when it is closed.
const Memory = ":memory:"

// The values of Config.Sync: which failures a commit survives.
const (
	SyncFull = "full" // a loss of power
	SyncOff  = "off"  // only a kill of the process; for simulations
)

// Config says which database to open, and how.
type Config struct {
	Path    string             // of the file, or Memory
	Logger  *slog.Logger       // nil discards
	Sync    string             // empty means SyncFull
	Trace   func(query string) // called with every statement that runs; can be nil
	Readers int                // how many Views run at the same time; 0 means 4, and Memory has always 1
}

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" {
		return c, coppice.Errorf(coppice.EInvalid, "the database has no path").WithField("path")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	switch c.Sync {
	case "":
		c.Sync = SyncFull
	case SyncFull, SyncOff:
	default:
		return c, coppice.Errorf(coppice.EInvalid, "%s is not a valid value for sync", coppice.Quote(c.Sync)).WithFix("use full or off").WithField("sync")
	}
	if c.Readers <= 0 {
		c.Readers = 4
	}
	if c.Path == Memory {
		c.Readers = 1
		return c, nil
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return c, err
	}
	c.Path = path
	return c, nil
}

// Store is a store.Store in a SQLite file.
type Store struct {
	cfg     Config
	lock    *fileLock // nil in Memory
	writer  *conn
	readers *pool
	signals *signals
	closing chan struct{}
	watch   *watch         // nil in Memory
	running sync.WaitGroup // Updates, Backups and Checks

	unchecked atomic.Bool                   // Check must read the database
	damage    atomic.Pointer[coppice.Error] // the damage that Check found
	packing   packing                       // only Pack uses it

	mu     sync.Mutex
	closed bool
	busy   bool       // a batch is running
	queue  []*request // requests that wait for a batch
}

var _ store.Store = (*Store)(nil)

// Open opens the database, and creates or migrates it if needed. If another store
// has it open, Open fails with code conflict. It never changes a file that is not
// a valid database of Coppice.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Store{
		cfg: cfg, readers: newPool(cfg.Readers), signals: newSignals(), closing: make(chan struct{}),
	}
	if cfg.Path == Memory {
		s.writer, err = openMemory(ctx)
	} else {
		err = s.openFile(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.writer.trace = cfg.Trace
	err = s.openReaders(ctx)
	last := int64(0)
	if err == nil {
		last, err = (&tx{conn: s.writer}).lastEvent()
	}
	if err == nil && cfg.Path != Memory {
		s.watch, err = newWatch(cfg.Path) // after the first read, which creates the write-ahead log
	}
	if err != nil {
		s.Close()
		return nil, explain(cfg.Path, err)
	}
	s.signals.event = last
	return s, nil
}

// openReaders opens all connections for Views now, because the path might name
// another file later.
func (s *Store) openReaders(ctx context.Context) (err error) {
	if s.cfg.Path == Memory {
		s.readers.give(s.writer)
		return nil
	}
	for range s.cfg.Readers {
		var c *conn
		if err == nil {
			if c, err = dial(ctx, s.cfg.Path, dsn(s.cfg.Path, "query_only(1)")); err == nil {
				c.trace = s.cfg.Trace
				_, err = c.pragma("schema_version") // the first read opens the write-ahead log
			}
		}
		s.readers.give(c) // Close takes it back, even without a connection
	}
	return err
}

func (s *Store) openFile(ctx context.Context) (err error) {
	if s.lock, err = acquire(ctx, s.cfg.Path); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.lock.release()
		}
	}()
	// Temporary files would have the journals of savepoints: up to half of all writes.
	source := dsn(s.cfg.Path, "synchronous("+s.cfg.Sync+")", "cache_size(-8192)", "temp_store(memory)")
	writer, unchecked, err := prepare(ctx, s.cfg.Path, source, s.cfg.Logger)
	s.writer = writer
	s.unchecked.Store(unchecked)
	return explain(s.cfg.Path, err)
}

// Close implements store.Store. Closing the store again does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.closing)
	s.mu.Unlock()

	s.running.Wait()
	for range s.readers.size() {
		<-s.readers.free
		if c := s.readers.take(); c != nil && c != s.writer {
			c.close()
		}
	}
	intact := s.guard() == nil // if the database was lost, this saves a copy
	err := s.writer.close()    // the last connection to close empties the write-ahead log
	if err == nil && intact && !s.unchecked.Load() && s.cfg.Path != Memory {
		if err := writeMark(s.cfg.Path); err != nil {
			s.cfg.Logger.Warn("the mark of a clean close cannot be written; the next start checks the whole database", "error", err)
		}
	}
	if s.lock != nil {
		s.lock.release()
	}
	return explain(s.cfg.Path, err)
}

// enter counts a call for which Close must wait. It fails if the store is closed.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.running.Add(1)
	return nil
}

// View implements store.Store.
func (s *Store) View(ctx context.Context, f func(store.Reader) error) error {
	return s.view(ctx, func(t *tx) error { return f(t.parts().Reader()) })
}

func (s *Store) view(ctx context.Context, f func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.takeReader(ctx)
	if err != nil {
		return err
	}
	defer s.readers.give(c)
	if err := c.run("BEGIN"); err != nil {
		return err
	}
	defer c.run("ROLLBACK") // nothing was written; this ends the snapshot
	return explain(s.cfg.Path, f(&tx{conn: c}))
}

func (s *Store) takeReader(ctx context.Context) (*conn, error) {
	select {
	case <-s.closing:
		return nil, errClosed
	default:
	}
	select {
	case <-s.readers.free:
		return s.readers.take(), nil
	case <-s.closing:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tx is a connection inside a transaction.
type tx struct {
	*conn
	wake  wake  // what to announce after the commit
	known known // a cache of rows that nearly every transaction reads
}

// known caches the rows of projects and queues that a transaction has read. A
// write to one of them empties it.
type known struct {
	projects map[int64]dbsqlc.Project
	queues   map[branch]dbsqlc.Queue
}

type branch struct {
	project int64
	name    string
}

func remember[K comparable, V any](m *map[K]V, key K, read func() (V, error)) (V, error) {
	if v, ok := (*m)[key]; ok {
		return v, nil
	}
	v, err := read()
	if err == nil {
		if *m == nil {
			*m = map[K]V{}
		}
		(*m)[key] = v
	}
	return v, err
}

// The groups of a transaction, each the same transaction under another name.
type (
	projects   struct{ *tx }
	tasks      struct{ *tx }
	lanes      struct{ *tx }
	sessions   struct{ *tx }
	spend      struct{ *tx }
	outputs    struct{ *tx }
	workspaces struct{ *tx }
	trash      struct{ *tx }
	queues     struct{ *tx }
	landings   struct{ *tx }
	checks     struct{ *tx }
	work       struct{ *tx }
	questions  struct{ *tx }
	messages   struct{ *tx }
	comments   struct{ *tx }
	viewed     struct{ *tx }
	asks       struct{ *tx }
	calls      struct{ *tx }
	locks      struct{ *tx }
	limits     struct{ *tx }
	log        struct{ *tx }
	timers     struct{ *tx }
	features   struct{ *tx }
	previews   struct{ *tx }
	hooks      struct{ *tx }
	history    struct{ *tx }
	snoozes    struct{ *tx }
	images     struct{ *tx }
	groups     struct{ *tx }
	seen       struct{ *tx }
	notes      struct{ *tx }
	documents  struct{ *tx }
	schedules  struct{ *tx }
	templates  struct{ *tx }
	pulls      struct{ *tx }
	forges     struct{ *tx }
	reactions  struct{ *tx }
	trackers   struct{ *tx }
	issues     struct{ *tx }
	notices    struct{ *tx }

	notifications struct{ *tx }
)

func (t *tx) parts() store.Tx {
	return store.Tx{
		Projects: projects{t}, Tasks: tasks{t}, Families: tasks{t}, Lanes: lanes{t}, Sessions: sessions{t}, Spend: spend{t}, Outputs: outputs{t},
		Workspaces: workspaces{t}, Trash: trash{t}, Queues: queues{t}, Landings: landings{t}, Checks: checks{t}, Work: work{t},
		Questions: questions{t}, Messages: messages{t}, Comments: comments{t}, Viewed: viewed{t}, Asks: asks{t}, Calls: calls{t}, Locks: locks{t}, Limits: limits{t}, Log: log{t}, Timers: timers{t},
		Features: features{t}, History: history{t}, Previews: previews{t}, Snoozes: snoozes{t}, Images: images{t}, Groups: groups{t}, Seen: seen{t},
		Notes: notes{t}, Hooks: hooks{t}, Documents: documents{t}, Schedules: schedules{t}, Templates: templates{t},
		Pulls: pulls{t}, Forges: forges{t}, Reactions: reactions{t}, Trackers: trackers{t}, Issues: issues{t},
		Notices: notices{t}, Notifications: notifications{t},
	}
}

// stored writes a row whose values p has encoded, and sets the id of a new one.
func stored[R any](t *tx, p packer, id *int64, query func(context.Context, R) (int64, error), row R) error {
	if p.err != nil {
		return p.err
	}
	inserted, err := query(t.ctx, row)
	return t.put(id, inserted, err)
}

// put sets the id of a new row.
func (t *tx) put(id *int64, inserted int64, err error) error {
	if err == nil && *id == 0 {
		*id = inserted
	}
	return err
}
