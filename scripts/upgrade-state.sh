#!/usr/bin/env bash
# Writes test/upgrade/testdata/state.sql: the database that the server of a commit
# leaves with everything open, as text. TestState continues with it.
set -euo pipefail
cd "$(dirname "$0")/.."

BASE=${1:?name a commit, for example: scripts/upgrade-state.sh HEAD} COPPICE_REQUIRE_AGENTS=1 \
	go test -tags upgrade -count=1 -v -timeout 15m ./test/upgrade -run TestUpgrade -dump testdata/state.sql
