# shellcheck shell=bash
# Source packages of Debian, sourced by .dev/pgvector and .dev/test-assert: fetch_source RELEASE PACKAGE unpacks what
# the authors of a package released into the current folder, as it was before Debian's changes.

# Where the machine's own sources fetch packages of Debian. These are apt's fields, not the shell's.
# shellcheck disable=SC2016
mirror() {
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }'
}

fetch_source() {
    local release="$1" package="$2" from work
    from="$(mirror)"
    # apt knows a source's origin only once its lists are there.
    [[ -n $from ]] || ! is_root || { apt-get update >&2 && from="$(mirror)"; }
    [[ -n $from ]] || die "apt's sources name no Debian mirror: run 'apt-get update' as root, then this command again."

    work="$(mktemp -d)"
    chmod 755 "$work"
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/source"
    # Run by root, apt fetches as its own user.
    if is_root && getent passwd _apt >/dev/null; then chown -R _apt "$work"; fi
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $release main" >"$work/sources.list"
    # Its own lists and cache: the machine's apt must not learn of another release.
    local apt=(apt-get
        -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work")
    (cd "$work/source" && "${apt[@]}" update && "${apt[@]}" source --download-only "$package") >&2
    tar --extract --strip-components=1 --no-same-owner --file "$work/source/$package"_*.orig.tar.*[!c]
    rm -rf "$work"
}
