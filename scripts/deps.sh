#!/usr/bin/env bash
# Checks that the programs that the tests need are installed. As root on Debian it
# installs what is missing; otherwise it says what to do.
set -euo pipefail

# program:package
wanted="git:git make:make tmux:tmux ps:procps unshare:util-linux ip:iproute2 strace:strace"
if ! command -v node >/dev/null; then
	wanted="$wanted node:nodejs"
fi
if ! command -v npm >/dev/null; then
	wanted="$wanted npm:npm"
fi

# The dashboard is tested in a browser.
if [ ! -x "${COPPICE_CHROMIUM:-/usr/bin/chromium}" ]; then
	wanted="$wanted chromium:chromium"
fi

# Notifications are shown on a desktop without a screen.
if [ "$(uname)" = Linux ]; then
	wanted="$wanted Xvfb:xvfb dbus-daemon:dbus dunst:dunst dunstctl:dunst"
fi

missing=
# Compose projects are tested with a docker engine, which only root can start. The
# image of the tests has a static busybox; Debian has another one, too.
if [ "$(uname)" = Linux ] && [ "$(id -u)" -eq 0 ]; then
	wanted="$wanted dockerd:docker.io"
	if ! docker compose version >/dev/null 2>&1; then
		wanted="$wanted docker-compose:docker-compose"
	fi
	if ! command -v busybox >/dev/null || ldd "$(command -v busybox)" >/dev/null 2>&1; then
		missing=" busybox-static"
	fi
fi

# Gitea, with which the tests talk, is built with cgo.
if [ "$(uname)" = Linux ] && ! command -v cc >/dev/null; then
	missing="$missing gcc libc6-dev"
fi

for pair in $wanted; do
	if ! command -v "${pair%%:*}" >/dev/null; then
		missing="$missing ${pair##*:}"
	fi
done

if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "missing:$missing; install them with your package manager" >&2
		exit 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		echo "missing:$missing; run: sudo apt-get install -y$missing" >&2
		exit 1
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q </dev/null
	# Newer releases of Debian have the client of docker in a separate package.
	case $missing in *docker.io*)
		if apt-cache show docker-cli >/dev/null 2>&1; then
			missing="$missing docker-cli"
		fi ;;
	esac
	# The list consists of the package names above and must be split.
	# shellcheck disable=SC2086
	apt-get install -y -q --no-install-recommends $missing </dev/null
fi

if ! command -v go >/dev/null; then
	echo "missing: go; see https://go.dev/dl" >&2
	exit 1
fi
version=$(git version | sed 's/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
# shellcheck disable=SC2086
set -- $version
if [ "$1" -lt 2 ] || { [ "$1" -eq 2 ] && [ "$2" -lt 38 ]; }; then
	echo "git $1.$2 is too old; 2.38 or newer is needed" >&2
	exit 1
fi
