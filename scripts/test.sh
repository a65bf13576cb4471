#!/usr/bin/env bash
# Runs go test on the given packages and prints the counts. In CI a skipped test
# is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

strict=false
[ "${CI:-}" = true ] && strict=true
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/testsum" ./scripts/testsum

# The slowest packages start first, so that none of them runs alone at the end. make
# test has run the rules of the house before.
if [ "$*" = ./... ]; then
	# Names of packages have no spaces.
	# shellcheck disable=SC2046
	set -- ./workspace ./test/e2e ./test/agents ./test/web ./test/sim $(go list ./... | grep -v '/test/house$')
fi

code=0
# The tests need no debug information, and make test has run the whole of vet.
go test -json -vet=off -ldflags=-w -timeout "${TEST_TIMEOUT:-20m}" "$@" 2>&1 </dev/null | "$bin/testsum" -strict="$strict" || code=1
exit "$code"
