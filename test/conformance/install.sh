#!/bin/sh
# Installs the conformance suite of the Model Context Protocol, pinned, below
# $COPPICE_TEST_CACHE. Does nothing when it is there already.
set -eu
. "$(dirname "$0")/../npm.sh"

version=0.1.16
dir=$cache/conformance
stamp=$dir/installed-$version

if [ -e "$stamp" ]; then
	exit 0
fi
needs_npm
npm_install "$dir" "@modelcontextprotocol/conformance@$version"

# The stamp is written last and only after the program answered, so that an
# install that was cut off is done again.
node --import "$(dirname "$(realpath "$0")")/fs.mjs" "$dir/node_modules/@modelcontextprotocol/conformance/dist/index.js" --version
touch "$stamp"
