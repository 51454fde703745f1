# shellcheck shell=bash disable=SC2034 # The variables are for the scripts that source this.
# Shared by all scripts of this folder: paths, users, error handling.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly CLONE="$PWD"
# A root shell has often not read the profile that adds this folder.
export PATH="$HOME/.cargo/bin:$PATH"
# These variables would redirect psql and the tests to another server.
unset PGHOST PGHOSTADDR PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGDATA PGSERVICE PGOPTIONS

say() { printf '%s\n' "$*" >&2; }

die() {
    say "keyed: $*"
    exit 1
}

# The disk space in MB of a complete build in target/ by profile, and of the test servers in temporary files.
readonly RELEASE_MB=1600 QUICK_MB=1600 DEBUG_MB=3500 SERVERS_MB=1500
# Additional space for files that a build writes before it replaces the old ones.
readonly REBUILD_MB=500

# The space that profiles still need, given those that are already built.
build_needs() {
    local profile used needed=$REBUILD_MB name
    for profile in "$@"; do
        name="${profile^^}_MB"
        used="$(du --summarize --block-size=1M "$BUILT/$profile" 2>/dev/null | cut --fields=1)" || used=0
        needed=$((needed + (${!name} > ${used:-0} ? ${!name} - ${used:-0} : 0)))
    done
    echo "$needed"
}

# The free space on the file system of a folder, in MB.
room_of() { df --output=avail --block-size=1M "$1" | tail --lines=1 | tr --delete ' '; }

has_room() { (($(room_of "$1") >= $2)); }

# Fails if a file system has too little free space, before the compiler fails with obscure errors.
require_room() {
    local folder="$1" needed="$2" purpose="$3"
    has_room "$folder" "$needed" || die "$purpose needs $needed MB on the file system of $folder, which has only" \
        "$(room_of "$folder") MB free. Make room there, or take a clone on another disk (for temporary files: TMPDIR)."
}

is_root() { [[ $EUID -eq 0 ]]; }

is_under_sudo() { is_root && [[ -n ${SUDO_USER:-} && $SUDO_USER != root ]]; }

# Those of these Debian packages that are not installed.
without_installed() {
    # dpkg-query fails for an unknown package, without output for it.
    comm -23 <(printf '%s\n' "$@" | sort --unique) \
        <({ dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } |
            sed -n 's/^installed //p' | sort)
}

apt_install() {
    [[ -z $(dpkg --audit) ]] || die "An earlier installation of packages was interrupted: run 'dpkg --configure -a' and" \
        "'apt-get install --fix-broken' as root, then this command again."
    # A failed download of a list (a dead third-party source) matters only if packages are then not found.
    apt-get update >&2 || say "apt-get update failed; continuing with the existing lists."
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@" >&2 ||
        die "apt-get could not install $*: its reason is above. It needs a network or a mirror, and Debian 12 or 13."
}

# Installs missing Debian packages that few commands need.
need_packages() {
    local missing
    mapfile -t missing < <(without_installed "$@")
    [[ ${#missing[@]} -eq 0 ]] && return
    is_root || die "These packages are missing: run 'sudo apt-get install ${missing[*]}' once, then this command again."
    say "Installing ${missing[*]}"
    apt_install "${missing[@]}"
}

# Compiling needs at least the Rust version in Cargo.toml.
check_rust() {
    local wanted found
    wanted="$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)"
    found="$(as_developer rustc --version 2>/dev/null | cut --delimiter=' ' --fields=2)" || true
    if [[ -z $found ]] || ! as_developer cargo --version >/dev/null 2>&1; then
        die "cargo is missing: install Rust $wanted or newer with rustup (https://rustup.rs), then run this command again."
    fi
    printf '%s\n%s\n' "$wanted" "$found" | sort --version-sort --check=quiet ||
        die "rustc is $found, and keyed needs $wanted or newer: run 'rustup update stable', then this command again."
    # pgrx formats the bindings that it generates from PostgreSQL's headers.
    as_developer rustfmt --version >/dev/null 2>&1 ||
        die "rustfmt is missing: run 'rustup component add rustfmt', then this command again."
}

# The memory in MB of the compiler for the largest crate, and for another one in parallel.
readonly COMPILER_MB=1500 FURTHER_JOB_MB=1000

# The available memory including swap, in MB; within a container, at most its limit.
free_memory() {
    local free limit used
    free="$(awk '/^(MemAvailable|SwapFree):/ { free += $2 } END { print int(free / 1024) }' /proc/meminfo)"
    limit="$(cat /sys/fs/cgroup/memory.max 2>/dev/null)" || limit=max
    if [[ $limit =~ ^[0-9]+$ ]]; then
        used="$(awk '$1 == "anon" { print int($2 / 1048576) }' /sys/fs/cgroup/memory.stat)"
        limit=$((limit / 1048576 - ${used:-0}))
        ((limit > free)) || free=$limit
    fi
    echo "$free"
}

# The number of compilers that fit memory and cores; 0 if there is not enough memory for one.
compiler_jobs() {
    local free="$1" cores="$2" jobs
    jobs=$((free < COMPILER_MB ? 0 : 1 + (free - COMPILER_MB) / FURTHER_JOB_MB))
    echo $((jobs < cores ? jobs : cores))
}

# The version under development.
workspace_version() { sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head --lines=1; }

# Compiling under `sudo make setup` must leave no root-owned files in the developer's clone.
as_developer() {
    if is_under_sudo; then
        local home
        home="$(getent passwd "$SUDO_USER" | cut -d: -f6)"
        runuser -u "$SUDO_USER" -- env HOME="$home" PATH="$home/.cargo/bin:$PATH" "$@"
    else
        "$@"
    fi
}

# The PostgreSQL version of a command (PG=17), and the path of its programs.
source .dev/major.sh
readonly BUILT="${KEYED_BUILT:-$CLONE/target}"
# The extension's files from .dev/compile, a tree to copy to /.
readonly PACKAGE="$BUILT/extension/$PG"
# Whether this user can install the extension.
is_writable_for_extension() {
    [[ -w $("$PG_BIN/pg_config" --pkglibdir) && -w $("$PG_BIN/pg_config" --sharedir)/extension ]]
}
# The PostgreSQL version that pgrx compiles for.
export PGRX_PG_CONFIG_PATH="$PG_BIN/pg_config"
