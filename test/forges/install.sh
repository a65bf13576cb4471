#!/bin/sh
# Builds Gitea for the tests, pinned, below $COPPICE_TEST_CACHE. The build takes some
# minutes, so it runs in the background. The tests wait for it. Does nothing when it
# is there already, or while another build runs.
set -eu

version=1.24.6
dir=${COPPICE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/coppice-test}/forges/gitea-$version
stamp=$dir/installed

if [ -e "$stamp" ]; then
	exit 0
fi
for program in go cc flock; do
	if ! command -v $program >/dev/null 2>&1; then
		echo "install.sh: $program is not installed; tests with Gitea cannot run" >&2
		exit 0
	fi
done
mkdir -p "$dir"

# The build has the lock until it ends, also if this script has ended or is killed.
exec 9>"$dir/lock"
flock -n 9 || exit 0

build() {
	set -eu
	cd "$dir"
	rm -rf source gitea
	go mod download "code.gitea.io/gitea@v$version"
	cp -r "$(go env GOMODCACHE)/code.gitea.io/gitea@v$version" source
	chmod -R u+w source
	cd source
	go mod download
	go generate -tags bindata ./modules/options ./modules/public ./modules/templates ./modules/migration
	CGO_ENABLED=1 go build -ldflags "-s -w -X main.Version=$version" -tags 'bindata sqlite sqlite_unlock_notify' -o ../gitea .
	cd ..
	rm -rf source
	# The stamp is written last and only after the program answered, so that a build
	# that was cut off is done again.
	./gitea --version
	touch "$stamp"
}

# A terminal that closes does not end the build.
(trap '' HUP; renice -n 10 -p "$(sh -c 'echo $PPID')" >/dev/null 2>&1 || true; build) >"$dir/build.log" 2>&1 </dev/null &
echo "building Gitea $version in the background; see $dir/build.log"
