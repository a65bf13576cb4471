// Package sqlite keeps the truth in one SQLite file.
//
// There is one writer connection and a pool of readers over a write-ahead log.
// Concurrent Updates share a commit: the first of them opens the transaction,
// lets every waiting one run its function inside a savepoint of its own, and
// commits once for all. View takes a pooled reader and never waits for the
// writer. A database at ":memory:" has a single connection, so that there
// View and Update do take turns; all else is the same.
//
// The file is guarded by a lock file beside it, holds an application id that
// tells it from other SQLite files, and is never overwritten: what cannot be
// read is refused with the way to a backup.
//
// Queries stand in queries/, the schema in migrations/; dbsqlc is generated
// from the two.
package sqlite

//go:generate go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
