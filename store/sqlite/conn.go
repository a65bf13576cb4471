package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"strconv"
	"strings"

	moderncsqlite "modernc.org/sqlite"

	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

// conn is one connection that prepares each statement once. One goroutine at a
// time uses it. Its statements run with a context that cannot be cancelled: for
// any other context the driver starts a goroutine per statement, and statements
// take microseconds.
type conn struct {
	ctx   context.Context
	path  string // of the database, for errors
	db    *sql.DB
	raw   *sql.Conn
	stmts map[string]*sql.Stmt
	trace func(query string) // nil for none
	wrote uint64             // statements that changed facts
	q     *dbsqlc.Queries
	// policies caches decoded policies by their text: the engine reads a project in
	// every turn, and its policy rarely changes.
	policies map[string]coppice.Policy
}

// maxPolicies is the size of a connection's cache of policies.
const maxPolicies = 64

// policy decodes a policy, or returns it from the cache. Callers must not change
// it.
func (c *conn) policy(u *unpacker, text string) coppice.Policy {
	if p, ok := c.policies[text]; ok {
		return p
	}
	var p coppice.Policy
	// Older versions accepted a budget that is not a number, and stored it.
	if u.unpack(strings.ReplaceAll(text, `"task":"NaN USD"`, `"task":"0 USD"`), &p); u.err != nil {
		return p
	}
	if c.policies == nil || len(c.policies) >= maxPolicies {
		c.policies = map[string]coppice.Policy{}
	}
	c.policies[text] = p
	return p
}

// maxStmts bounds the prepared statements of a connection. Less than half of them
// are fixed queries. The others depend on the filters that callers use.
const maxStmts = 256

// dial opens a connection. It has a separate sql.DB of size one, so database/sql
// never opens, closes or exchanges it.
func dial(ctx context.Context, path, dsn string) (*conn, error) {
	connector, err := moderncsqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	ctx = context.WithoutCancel(ctx)
	raw, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	c := &conn{ctx: ctx, path: path, db: db, raw: raw, stmts: map[string]*sql.Stmt{}}
	c.q = dbsqlc.New(c)
	return c, nil
}

// dsn returns the data source name of a file, with the settings that all its
// connections share.
func dsn(path string, pragmas ...string) string {
	v := url.Values{"mode": {"rw"}, "_pragma": append([]string{"busy_timeout(10000)", "foreign_keys(1)"}, pragmas...)}
	return "file:" + escape(path) + "?" + v.Encode()
}

// escape makes a path safe in a file: URI.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// forget closes every statement. A statement in use is closed with its rows.
func (c *conn) forget() {
	for _, s := range c.stmts {
		s.Close()
	}
	clear(c.stmts)
}

func (c *conn) close() error {
	c.forget()
	c.raw.Close()
	return c.db.Close()
}

// run executes a statement without arguments and rows.
func (c *conn) run(query string) error {
	_, err := c.exec(c.ctx, query)
	return err
}

// runAll runs statements until one fails.
func (c *conn) runAll(queries []string) error {
	for _, q := range queries {
		if err := c.run(q); err != nil {
			return err
		}
	}
	return nil
}

// pragma reads a pragma that is a number.
func (c *conn) pragma(name string) (int64, error) {
	var n int64
	err := c.raw.QueryRowContext(c.ctx, "PRAGMA "+name).Scan(&n)
	return n, err
}

func (c *conn) setPragma(name string, n int64) error {
	_, err := c.raw.ExecContext(c.ctx, "PRAGMA "+name+" = "+strconv.FormatInt(n, 10))
	return err
}

// PrepareContext returns the prepared statement of a query.
func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if c.trace != nil {
		c.trace(query)
	}
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.raw.PrepareContext(ctx, query)
	if err != nil {
		return nil, explain(c.path, err)
	}
	if len(c.stmts) >= maxStmts {
		c.forget()
	}
	c.stmts[query] = s
	return s, nil
}

// ExecContext implements dbsqlc.DBTX.
func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.wrote++
	return c.exec(ctx, query, args...)
}

func (c *conn) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := s.ExecContext(ctx, args...)
	if err != nil {
		return nil, explain(c.path, err)
	}
	return res, nil
}

// QueryContext implements dbsqlc.DBTX.
func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRowContext implements dbsqlc.DBTX.
func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s, err := c.PrepareContext(ctx, query)
	if err != nil {
		return c.raw.QueryRowContext(ctx, query, args...) // fails again, with the error in a Row
	}
	return s.QueryRowContext(ctx, args...)
}
