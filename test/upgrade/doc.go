// Package upgrade tests that a new release continues with what an earlier one
// left. `make test-upgrade BASE=<commit>` builds that commit, has its server make
// a state with everything that can be open, stops it while sessions run, and
// starts the working tree's program on the same state.
//
// `make test` does the same with the database alone: testdata/state.sql is the
// text of such a state, made by scripts/upgrade-state.sh. A test loads it, opens
// it with all migrations and has the engine carry out what is open.
package upgrade
