# Shared by the steps in this folder; each of them starts with: source "$(dirname "$0")/lib.sh"
# It leaves the step in the root of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A workspace of the developer's or flags of theirs must not change what is checked.
export GOWORK=off LC_ALL=C
export GOFLAGS="${GOFLAGS:-}"

MODULE=$(sed -n 's/^module //p' go.mod)
CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/mcp-ci"
mkdir -p "$CACHE"

# What the platforms we promise add to the machine we are on: GOOS/GOARCH.
FOREIGN=(windows/amd64 darwin/arm64 linux/arm64)

fail() {
	printf 'FAIL: %s\n' "$*" >&2
	exit 1
}

# need COMMAND PACKAGE: COMMAND is there, or comes from Debian's PACKAGE, or the step fails. A check is never skipped.
need() {
	command -v "$1" >/dev/null && return
	command -v apt-get >/dev/null || fail "$1 is missing and there is no apt-get: install $2"
	[ "$(id -u)" = 0 ] || fail "$1 is missing: run as root: apt-get install $2"
	echo "installing $2 for $1"
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null ||
		fail "$1 is missing and apt-get could not install $2"
	command -v "$1" >/dev/null || fail "$2 is installed and $1 is still missing"
}

# nested_modules: the folders of every module below the root one.
nested_modules() {
	find . -mindepth 2 -name go.mod -not -path '*/testdata/*' -not -path '*/node_modules/*' -printf '%h\n' |
		sed 's|^\./||' | sort
}

# readme_commands PREFIX: the lines of the README's shell blocks that start with PREFIX.
readme_commands() {
	awk -v prefix="$1" '
		/^```/ { shell = !inside && /^```sh$/; inside = !inside; next }
		shell && index($0, prefix) == 1
	' README.md
}

# npm_packages FOLDER [FILE ...]: installs what the lock file in FOLDER pins below the cache, once, and prints where.
# Nothing that a package brings is run meanwhile; the FILEs, in node_modules, that a package would make executable in a
# script of its own are made so here.
npm_packages() {
	set -e # which a command substitution has cleared
	local hash into part file
	hash=$(cat "$1"/package*.json | sha256sum | cut -c1-16)
	into="$CACHE/npm-$hash"
	if [ ! -d "$into" ]; then
		need npm npm >&2
		part="$into.part"
		rm -rf "$part"
		mkdir -p "$part"
		cp "$1"/package*.json "$part"
		npm ci --prefix "$part" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
		for file in "${@:2}"; do
			chmod +x "$part/node_modules/$file"
		done
		mv "$part" "$into" # whole or not at all
	fi
	echo "$into"
}

# has_tests: the module in this folder has tests, since go test is content when there are none.
has_tests() {
	local listed
	listed=$(go test -list '^Test' ./...)
	grep -q '^Test' <<<"$listed" || fail "$(basename "$PWD"): there is no test to run"
}
