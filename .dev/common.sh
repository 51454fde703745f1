# shellcheck shell=bash disable=SC2034 # The variables are for the scripts that source this.
# Every script of this folder begins by sourcing this file: where things are, who runs them, how to fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly CLONE="$PWD"
# A root shell on a fresh machine has often not read the profile that names this folder.
export PATH="$HOME/.cargo/bin:$PATH"
# These would lead psql and the tests to another server than ours.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGDATA PGSERVICE PGOPTIONS

say() { printf '%s\n' "$*" >&2; }

die() {
    say "keyed: $*"
    exit 1
}

# What a complete build takes in target/ by its profile, and the servers of the tests among the temporary files, in MB.
readonly RELEASE_MB=1600 DEBUG_MB=3500 SERVERS_MB=1500
# Room for what a build writes beside the files that it replaces.
readonly REBUILD_MB=500

# The room that profiles still need, given those that are built already.
build_needs() {
    local profile used needed=$REBUILD_MB name
    for profile in "$@"; do
        name="${profile^^}_MB"
        used="$(du --summarize --block-size=1M "$BUILT/$profile" 2>/dev/null | cut --fields=1)" || used=0
        needed=$((needed + (${!name} > ${used:-0} ? ${!name} - ${used:-0} : 0)))
    done
    echo "$needed"
}

# Fails if a file system has too little room: in the middle of a build, the compiler would say so in a hundred ways.
require_room() {
    local folder="$1" needed="$2" purpose="$3" free
    free="$(df --output=avail --block-size=1M "$folder" | tail --lines=1)"
    ((free >= needed)) || die "$purpose needs $needed MB on the file system of $folder, which has only ${free// /} MB free." \
        "Make room there, or take a clone on another disk (for temporary files: TMPDIR)."
}

is_root() { [[ $EUID -eq 0 ]]; }

is_under_sudo() { is_root && [[ -n ${SUDO_USER:-} && $SUDO_USER != root ]]; }

# Installs packages of Debian that few commands need, those that are missing.
need_packages() {
    local package missing=()
    for package in "$@"; do
        [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -eq 0 ]] && return
    is_root || die "These packages are missing: run 'sudo apt-get install ${missing[*]}' once, then this command again."
    say "Installing ${missing[*]}"
    apt-get update >&2 || say "apt-get update failed; trying with the lists at hand."
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}" >&2
}

# Compiling under `sudo make setup` must leave no files of root in the developer's clone.
as_developer() {
    if is_under_sudo; then
        local home
        home="$(getent passwd "$SUDO_USER" | cut -d: -f6)"
        runuser -u "$SUDO_USER" -- env HOME="$home" PATH="$home/.cargo/bin:$PATH" "$@"
    else
        "$@"
    fi
}

# Which PostgreSQL a command is about (PG=17), and where its programs are.
source .dev/major.sh
readonly BUILT="${KEYED_BUILT:-$CLONE/target}"
# What `cargo pgrx package` makes: the tree of files to copy to /.
readonly PACKAGE="$BUILT/extension/$PG"
# pgrx asks this variable before a configuration that only an interactive `cargo pgrx init` writes.
export PGRX_PG_CONFIG_PATH="$PG_BIN/pg_config"
