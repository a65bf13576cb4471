// Package sqlite implements store.Store with one SQLite file.
//
// There is one writer connection and a pool of readers over a write-ahead log.
// Concurrent Updates share a commit: the first one opens the transaction, lets
// every waiting one run its function inside a separate savepoint, and commits
// once for all. View uses a pooled reader and never waits for the writer. A
// database at ":memory:" has a single connection, so View and Update take turns.
//
// A lock file beside the database keeps other processes out. An application id
// in the file distinguishes it from other SQLite files. Open never overwrites a
// file that it cannot read. Its error says how to restore a backup.
//
// Queries are in queries/, the schema is in migrations/, and dbsqlc is generated
// from both.
package sqlite

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
