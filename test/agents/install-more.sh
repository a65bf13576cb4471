#!/bin/sh
# Installs the further agent CLIs that `make test-agents` drives, in the versions
# they were recorded with, beside those of install.sh. Does nothing for those
# that are installed already.
set -eu
. "$(dirname "$0")/../npm.sh"

dir=$cache
needs_npm

# install PROGRAM PACKAGE VERSION. Each has a separate folder: the adapters
# bring other versions of the CLIs they adapt.
install() {
	home=$dir/more/$1
	if [ ! -e "$home/installed-$3" ]; then
		npm_install "$home" "$2@$3"
		test -x "$home/node_modules/.bin/$1"
		touch "$home/installed-$3"
	fi
	mkdir -p "$dir/node_modules/.bin"
	ln -sfn "$home/node_modules/.bin/$1" "$dir/node_modules/.bin/$1"
}

install claude-agent-acp @agentclientprotocol/claude-agent-acp 0.49.0
install opencode opencode-ai 1.18.33
install gemini @google/gemini-cli 0.61.0
install qwen @qwen-code/qwen-code 0.15.10
install codex-acp @zed-industries/codex-acp 0.16.0
install copilot @github/copilot 1.0.102
install cline cline 3.0.65
install droid droid 0.215.0
install kilo @kilocode/cli 7.7.7
install pi @mariozechner/pi-coding-agent 0.73.1
