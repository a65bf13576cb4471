#!/bin/sh
# Installs the conformance suite of the Model Context Protocol, pinned, below
# $COPPICE_TEST_CACHE. Does nothing when it is there already.
set -eu

version=0.1.16
dir=${COPPICE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/coppice-test/agents}/conformance
stamp=$dir/installed-$version

if [ -e "$stamp" ]; then
	exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
	echo "install.sh: npm is not installed; install Node.js 20 or newer" >&2
	exit 1
fi
mkdir -p "$dir"
npm install --prefix "$dir" --no-audit --no-fund --loglevel=error "@modelcontextprotocol/conformance@$version"

# The stamp is written last and only after the program answered, so that an
# install that was cut off is done again.
node --import "$(dirname "$(realpath "$0")")/fs.mjs" "$dir/node_modules/@modelcontextprotocol/conformance/dist/index.js" --version
touch "$stamp"
