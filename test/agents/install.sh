#!/bin/sh
# Installs the agent CLIs these tests drive, in the versions they were recorded
# with, and the tool server of their browser, below $COPPICE_TEST_CACHE. Does
# nothing when they are there already.
# The versions are pinned because npm otherwise picks an older release whose
# "engines" field fits the node at hand.
set -eu
. "$(dirname "$0")/../npm.sh"

claude=2.1.325
codex=0.166.0
browser=1.11.0
dir=$cache
stamp=$dir/installed-$claude-$codex-$browser

if [ -e "$stamp" ]; then
	exit 0
fi
needs_npm
npm_install "$dir" \
	"@anthropic-ai/claude-code@$claude" "@openai/codex@$codex" "chrome-devtools-mcp@$browser"

# The stamp is written last and only after all programs answered, so that an
# install that was cut off is done again.
"$dir/node_modules/.bin/claude" --version
"$dir/node_modules/.bin/codex" --version
"$dir/node_modules/.bin/chrome-devtools-mcp" --version
touch "$stamp"
