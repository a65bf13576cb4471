#!/usr/bin/env bash
# Makes the pictures of the board for the README: runs the demo with the real
# program, adds more tasks, and takes screenshots in Chromium in both themes.
set -euo pipefail
cd "$(dirname "$0")/.."

make --no-print-directory build
coppice=$PWD/bin/coppice
out=${1:-$PWD/docs/images}
mkdir -p "$out"

# Everything is in a temporary folder, separate from the user's files.
work=$(mktemp -d)
server=
finish() {
	if [ -n "$server" ]; then
		for key in $("$coppice" list --json 2>/dev/null | grep -o '"key": "[^"]*"' | cut -d'"' -f4); do
			"$coppice" stop "$key" >/dev/null 2>&1 || true # an ended task cannot be stopped
		done
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap finish EXIT
mkdir "$work/home" "$work/tmp"
export HOME=$work/home TMPDIR=$work/tmp GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null TZ=UTC

echo "the demo"
"$coppice" demo --keep >/dev/null
demo=$(echo "$work"/tmp/coppice-demo-*)
export COPPICE_STATE=$demo/state

echo "a shop with work in all states"
shop=$work/shop
cp -R scripts/picture/shop "$shop"
git -C "$shop" init --quiet --initial-branch=main
git -C "$shop" config user.name Ada
git -C "$shop" config user.email ada@example.org
git -C "$shop" add --all
git -C "$shop" commit --quiet --message "A shop"

mkfifo "$work/address"
"$coppice" serve --listen 127.0.0.1:0 >"$work/address" 2>"$work/serve.log" &
server=$!
exec 3<"$work/address"
read -r _ <&3 # it is up when it has printed its address
cd "$shop"
node "$OLDPWD/scripts/picture/picture.mjs" "$coppice" "$out"
