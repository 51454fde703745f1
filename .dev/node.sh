# shellcheck shell=bash
# Node.js for the web application, sourced by the scripts that build and test it.

# The oldest that the build takes; Debian 12 has 18.
readonly NODE_WANTED=20.19.0
# A newer Node than the machine's, where one is needed.
readonly NODE_FOLDER="$CLONE/target/node"

node_is_new_enough() {
    local found
    found="$(node --version 2>/dev/null)" || return 1
    printf '%s\n%s\n' "$NODE_WANTED" "${found#v}" | sort --version-sort --check=quiet
}

# Puts a fitting Node on the path: the machine's, else the one that npm has as a package.
use_node() {
    node_is_new_enough && return
    command -v npm >/dev/null || die "Node.js is missing: run 'sudo make setup' once, then this command again."
    if [[ ! -x $NODE_FOLDER/node_modules/node/bin/node ]]; then
        say "Installing Node.js 24"
        as_developer mkdir -p "$NODE_FOLDER"
        # Its install script puts the program in place.
        as_developer npm install --prefix "$NODE_FOLDER" --no-save --no-audit --no-fund node@24 >&2
    fi
    export PATH="$NODE_FOLDER/node_modules/node/bin:$PATH"
    node_is_new_enough || die "Node.js $(node --version) is too old; the web application needs $NODE_WANTED or newer."
}

# Installs the packages of a folder as its lock file has them, unless they are in place. None of their scripts runs.
# Not by `npm ci`, which wants optional packages of other systems in the lock file, where a registry may have none.
install_npm_packages() {
    local lock="$1/package-lock.json" stamp="$1/node_modules/.installed-from"
    cmp --silent "$lock" "$stamp" && return
    local npm=(npm)
    # Older ones leave out packages of the lock file that are for this machine alone.
    [[ $(npm --version) == [0-9].* || $(npm --version) == 10.* ]] && npm=(npx --yes npm@11)
    as_developer rm -rf "$1/node_modules"
    as_developer "${npm[@]}" install --prefix "$1" --no-save --ignore-scripts --no-audit --no-fund >&2
    as_developer cp "$lock" "$stamp"
}
