# shellcheck shell=bash disable=SC2034 # The variables are for the scripts that source this.
# Every script of this folder begins by sourcing this file: where things are, who runs them, how to fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly CLONE="$PWD"
# `make test-assert` sets another PostgreSQL 15 than Debian's. What is built against it is kept apart.
readonly PG_BIN="${KEYED_PG_BIN:-/usr/lib/postgresql/15/bin}"
readonly BUILT="$CLONE/target${KEYED_PG_BIN:+/assert}"
# What `cargo pgrx package` makes: the tree of files to copy to /.
readonly PACKAGE="$BUILT/extension"

# pgrx asks this variable before a configuration that only an interactive `cargo pgrx init` writes.
export PGRX_PG_CONFIG_PATH="$PG_BIN/pg_config"
# A root shell on a fresh machine has often not read the profile that names this folder.
export PATH="$HOME/.cargo/bin:$PATH"
# These would lead psql and the tests to another server than ours.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGDATA PGSERVICE PGOPTIONS

say() { printf '%s\n' "$*" >&2; }

die() {
    say "keyed: $*"
    exit 1
}

is_root() { [[ $EUID -eq 0 ]]; }

# Compiling under `sudo make setup` must leave no files of root in the developer's clone.
as_developer() {
    if is_root && [[ -n ${SUDO_USER:-} && $SUDO_USER != root ]]; then
        local home
        home="$(getent passwd "$SUDO_USER" | cut -d: -f6)"
        runuser -u "$SUDO_USER" -- env HOME="$home" PATH="$home/.cargo/bin:$PATH" "$@"
    else
        "$@"
    fi
}
