# The common part of the scripts that install programs from npm for tests. They
# source it.

cache=${COPPICE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/coppice-test/agents}

# needs_npm ends the script if npm is not installed.
needs_npm() {
	if ! command -v npm >/dev/null 2>&1; then
		echo "$(basename "$0"): npm is not installed; install Node.js 20 or newer" >&2
		exit 1
	fi
}

# npm_install DIRECTORY PACKAGE...
npm_install() {
	into=$1
	shift
	mkdir -p "$into"
	npm install --prefix "$into" --no-audit --no-fund --loglevel=error "$@"
}
