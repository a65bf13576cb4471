#!/usr/bin/env bash
# Runs every fuzz test of the module, each for FUZZTIME (60s), and prints how
# many ran. With arguments, it runs only those in these packages. TARGET names a
# package by its directory, such as workspace/gitfiles.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- "./${TARGET:-...}"
n=0
while read -r pkg name; do
	echo "fuzz  $pkg $name"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-60s}" "$pkg" </dev/null | grep -E '^(---|FAIL|ok|panic)|elapsed.*new interesting' | tail -n 2
	n=$((n + 1))
done < <(go list "$@" | while read -r pkg; do
	go test -list '^Fuzz' "$pkg" | { grep '^Fuzz' || true; } | sed "s|^|$pkg |"
done)
echo "$n fuzz tests, ${FUZZTIME:-60s} each, no crash"
