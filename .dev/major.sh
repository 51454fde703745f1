# shellcheck shell=bash disable=SC2034 # The variables are for the scripts that source this.
# The major version of PostgreSQL for a command, sourced by .dev/common.sh. PG=17 selects it; the default is that of the
# distribution. KEYED_PG_BIN is a folder with PostgreSQL's programs from another source.

# The supported versions.
readonly MAJORS=(15 16 17 18)

# The version that this Debian release packages.
packaged_major() {
    local release
    # shellcheck source=/dev/null
    release="$(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-}")"
    case "$release" in
        'debian 13') echo 17 ;;
        *) echo 15 ;;
    esac
}

# The folder of versions built from source (.dev/postgresql). It is outside of the clone, so that all clones share it,
# and readable by the user postgres, as whom root runs servers.
postgresql_home() {
    if [[ -n ${KEYED_POSTGRESQL_HOME:-} ]]; then
        printf '%s\n' "$KEYED_POSTGRESQL_HOME"
    elif is_root && ! is_under_sudo; then
        echo /opt/keyed/postgresql
    else
        # shellcheck disable=SC2016 # The developer's shell has the developer's HOME.
        as_developer bash -c 'echo "$HOME/.cache/keyed/postgresql"'
    fi
}

# Whether apt has packages of a version, from the release or from an added repository.
is_packaged() {
    [[ -x /usr/lib/postgresql/$1/bin/postgres || $1 == "$(packaged_major)" ]] ||
        apt-cache show "postgresql-$1" >/dev/null 2>&1
}

# The folder of a version's programs.
programs_of() {
    if is_packaged "$1"; then echo "/usr/lib/postgresql/$1/bin"; else echo "$(postgresql_home)/$1/bin"; fi
}

if [[ -n ${KEYED_PG_BIN:-} ]]; then
    [[ -x $KEYED_PG_BIN/pg_config ]] || die "KEYED_PG_BIN is $KEYED_PG_BIN, which has no pg_config."
    FOUND_MAJOR="$("$KEYED_PG_BIN/pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')"
    [[ ${PG:-$FOUND_MAJOR} == "$FOUND_MAJOR" ]] || die "PG is $PG, but KEYED_PG_BIN is a PostgreSQL $FOUND_MAJOR."
    PG="$FOUND_MAJOR"
fi
PG="${PG:-$(packaged_major)}"
[[ $PG == [0-9][0-9] && " ${MAJORS[*]} " == *" $PG "* ]] ||
    die "PG=$PG is not supported. keyed supports these versions of PostgreSQL: ${MAJORS[*]}. For example: PG=${MAJORS[-1]}."
PG_BIN="${KEYED_PG_BIN:-$(programs_of "$PG")}"
readonly PG PG_BIN
# Exported for scripts that others call.
export PG

# The command that installs the dependencies of this version.
setup_command() {
    local command='make setup'
    [[ $PG == "$(packaged_major)" ]] || command+=" PG=$PG"
    [[ ${FOR:-run} == run ]] || command+=" FOR=$FOR"
    echo "$command"
}

# Whether this PostgreSQL comes from a package, and whether it is built from source.
is_of_debian() { [[ $PG_BIN == "/usr/lib/postgresql/$PG/bin" ]]; }
is_of_source() { [[ $PG_BIN == "$(postgresql_home)/$PG/bin" ]]; }
