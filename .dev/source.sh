# shellcheck shell=bash
# Source packages of Debian, sourced by scripts that build PostgreSQL or pgvector: `fetch_source PACKAGE RELEASE…` unpacks
# the upstream source of a package, without Debian's changes, into the current folder. It comes from the first of these Debian
# releases that has it.

# The machine's Debian mirror. The format placeholders are apt's, not the shell's.
# shellcheck disable=SC2016
mirror() {
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }'
}

fetch_source() {
    local package="$1" release from
    from="$(mirror)"
    # apt knows the origin of a source only after it has downloaded its lists.
    [[ -n $from ]] || ! is_root || { apt-get update >&2 && from="$(mirror)"; }
    [[ -n $from ]] || die "apt's sources name no Debian mirror: run 'apt-get update' as root, then this command again."
    for release in "${@:2}"; do
        ! fetch_from "$from" "$release" "$package" || return 0
    done
    die "$from has no source package of $package in ${*:2}."
}

fetch_from() {
    local from="$1" release="$2" package="$3" work archives
    work="$(mktemp -d)"
    chmod 755 "$work"
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/source"
    # As root, apt downloads as the user _apt.
    if is_root && getent passwd _apt >/dev/null; then chown -R _apt "$work"; fi
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $release main" >"$work/sources.list"
    # Separate lists and cache, so that the machine's apt does not use another release.
    local apt=(apt-get
        -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work")
    (cd "$work/source" && "${apt[@]}" update && "${apt[@]}" source --download-only "$package") >&2 || true
    archives=("$work/source/$package"_*.orig.tar.*[!c])
    [[ -f ${archives[0]} ]] && tar --extract --strip-components=1 --no-same-owner --file "${archives[0]}"
    local found=$?
    rm -rf "$work"
    return $found
}

# Builds and installs pgvector for the PostgreSQL of this pg_config.
make_pgvector() {
    local pg_config="$1" work
    work="$(mktemp -d)"
    (
        set -e
        cd "$work"
        fetch_source pgvector trixie
        # This release of pgvector is older than PostgreSQL 18, in which vacuum_delay_point() has an
        # argument, and columns of a tuple descriptor are read with TupleDescAttr, which older versions also have.
        [[ $("$pg_config" --version) != 'PostgreSQL 18'* ]] || sed --in-place \
            -e 's/vacuum_delay_point()/vacuum_delay_point(false)/' \
            -e 's/\([a-z>-]*tupdesc\)->attrs\[0\]\./TupleDescAttr(\1, 0)->/' src/*.c
        # The default OPTFLAGS, -march=native, would bind the library to this processor.
        make --silent --jobs="$(nproc)" PG_CONFIG="$pg_config" OPTFLAGS=""
        make --silent install PG_CONFIG="$pg_config" OPTFLAGS=""
    )
    rm -rf "$work"
}

# The releases of Debian that have the source of a version of PostgreSQL.
releases_with() {
    case "$1" in
        15) echo bookworm ;;
        17) echo trixie ;;
        18) echo forky sid ;;
    esac
}

# The build dependencies of PostgreSQL.
readonly SOURCE_PACKAGES=(bison flex perl build-essential pkg-config libicu-dev libssl-dev zlib1g-dev)

# Builds a version of PostgreSQL with pgvector in a folder, once: `make_postgresql FOLDER MAJOR OPTION…` with options of
# configure. If two clones build the same version, the second waits. The folder is complete if it contains the file
# `ready`.
make_postgresql() {
    local folder="$1" major="$2" options=(--with-icu --with-openssl --without-readline "${@:3}")
    # The extensions that keyed needs, and those for tests and the inspection of indexes.
    local contrib=(pg_trgm amcheck auto_explain file_fdw pageinspect pg_prewarm pgstattuple) recipe package
    recipe="${options[*]} ${contrib[*]}"
    is_made() { [[ $(tail --lines=+2 "$folder/ready" 2>/dev/null) == "$recipe" ]]; }
    ! is_made || return 0
    local releases
    read -r -a releases <<<"$(releases_with "$major")"
    [[ ${#releases[@]} -gt 0 ]] ||
        die "Debian has no source package of PostgreSQL $major: add the repository of packages of the PostgreSQL project" \
            "to apt's sources, or name the folder of its programs: KEYED_PG_BIN=…"
    for package in "${SOURCE_PACKAGES[@]}"; do
        dpkg-query --show "$package" >/dev/null 2>&1 ||
            die "$package is missing: run 'sudo apt-get install ${SOURCE_PACKAGES[*]}' once, then this command again."
    done
    say "Building PostgreSQL $major in $folder, which takes some minutes"
    mkdir -p "$(dirname "$folder")"
    # Runs in a background shell, because bash ignores `set -e` in a condition.
    (
        set -e
        exec 8>"$folder.lock"
        flock 8
        ! is_made || exit 0
        umask 022
        rm -rf "$folder" "$folder.source"
        mkdir "$folder.source"
        cd "$folder.source"
        fetch_source "postgresql-$major" "${releases[@]}"
        ./configure --quiet --prefix="$folder" "${options[@]}"
        # Within another make, as in `make test`, PostgreSQL's make would generate no headers.
        unset MAKELEVEL MAKEFLAGS
        for made in . "${contrib[@]/#/contrib/}"; do
            make --silent --jobs="$(nproc)" --directory="$made"
            make --silent --directory="$made" install
        done
        make_pgvector "$folder/bin/pg_config"
        cd /
        # The sources are ten times as large as the programs.
        rm -rf "$folder.source" "$folder/lib"/*.a
        { "$folder/bin/pg_config" --version && printf '%s\n' "$recipe"; } >"$folder/ready"
    ) >"$folder.log" 2>&1 &
    wait $! || die "PostgreSQL $major could not be built: read $folder.log"
}
