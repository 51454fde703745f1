# shellcheck shell=bash disable=SC2034 # The variables are for .dev/run.
# The private PostgreSQL cluster of `make run`, sourced by .dev/run. Its data is in .run/cluster, and its port is stored.

# Another folder is for a separate service.
RUN="$(realpath --canonicalize-missing "${KEYED_RUN:-$CLONE/.run}")"
readonly RUN
readonly DATA="$RUN/cluster"
readonly SERVER_LOG="$RUN/postgresql.log"
CLUSTER_IS_NEW=false
SERVER_PID=""

# PostgreSQL does not run as root. Unlike runuser, setpriv executes the program without a parent process, so signals reach the
# server.
SERVER_USER=()
if is_root; then SERVER_USER=(setpriv --reuid=postgres --regid=postgres --init-groups); fi

# From /, because PostgreSQL's programs fail if they cannot return to the working directory. Without backtraces of Rust, which
# would flood the server log.
as_server_user() { (cd / && exec env --unset=RUST_BACKTRACE "${SERVER_USER[@]}" "$@"); }

random_password() { head --bytes=24 /dev/urandom | od --address-radix=n --format=x1 | tr --delete ' \n'; }

port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Creates a file that only its owner can read, without a race.
write_secret() { (umask 077 && cat >"$1.new" && mv "$1.new" "$1"); }

password_of() { sed --quiet 's|^postgresql://[^:]*:\([^@]*\)@.*|\1|p' "$1"; }

# Creates a folder that only PostgreSQL's user can open.
make_private_folder() {
    if is_root; then
        install --directory --owner=postgres --group=postgres --mode=700 "$1"
    else
        install --directory --mode=700 "$1"
    fi
}

# If PostgreSQL's user cannot access the clone (in /root, for example), the data is next to Debian's clusters, and .run/cluster is
# a symbolic link.
data_folder() {
    if as_server_user test -x "$RUN"; then
        printf '%s\n' "$DATA"
    else
        printf '/var/lib/postgresql/keyed-%s\n' "$(cksum <<<"${KEYED_RUN:-$CLONE}" | cut -d' ' -f1)"
    fi
}

# Whether this PostgreSQL was built with ICU, which is the default since 16.
has_icu() {
    local options
    options="$("$PG_BIN/pg_config" --configure)"
    [[ $options == *--with-icu* || $PG -ge 16 && $options != *--without-icu* ]]
}

create_cluster() {
    local folder password order=()
    folder="$(data_folder)"
    password="$(random_password)"
    # With ICU, plain SQL sorts texts in Unicode order, as searches do. Without ICU, it sorts by bytes.
    ! has_icu || order=(--locale-provider=icu --icu-locale=und)
    say "Creating a PostgreSQL cluster in $folder"
    # Data without .run/cluster is a leftover of an earlier clone with the same path, or of an interrupted start.
    stop_forgotten_server "$folder"
    rm -rf "$folder" "$folder.new" "$RUN"/{database,proxy}.url "$RUN"/*.{key,token}
    as_server_user true || die "The user postgres is missing: run 'make setup'."
    make_private_folder "$folder.new"
    # The inner shell belongs to PostgreSQL's user, so that initdb may open the pipe with the password.
    # shellcheck disable=SC2016
    PASSWORD="$password" as_server_user bash -c '
        "$1/initdb" --pgdata="$2" --username=postgres --pwfile=<(printf "%s\n" "$PASSWORD") \
            --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --data-checksums "${@:3}"' \
        initdb "$PG_BIN" "$folder.new" "${order[@]}" >>"$SERVER_LOG" 2>&1 || die "initdb failed: read $SERVER_LOG"
    printf 'postgresql://postgres:%s@127.0.0.1:0/keyed\n' "$password" | write_secret "$RUN/database.url"
    # The last step. If an interruption prevents it, the next run starts over.
    mv "$folder.new" "$folder"
    [[ $folder == "$DATA" ]] || ln --symbolic --no-dereference --force "$folder" "$DATA"
    CLUSTER_IS_NEW=true
}

# Stops a server whose `make run` was killed, or removes the lock file of one that crashed with the machine. Process ids are reused,
# so the working directory identifies the server: a postmaster's is its data directory.
stop_forgotten_server() {
    local lock="$1/postmaster.pid" pid
    [[ -f $lock ]] || return 0
    pid="$(head -n 1 "$lock")"
    if [[ $(readlink "/proc/$pid/cwd") == "$1" ]]; then
        say "Stopping PostgreSQL (process $pid), left by an earlier run"
        as_server_user "$PG_BIN/pg_ctl" --pgdata="$1" --mode=fast --wait stop >&2
    else
        rm -f "$lock"
    fi
}

choose_port() {
    PORT="$(cat "$RUN/cluster.port" 2>/dev/null || echo 54320)"
    while port_is_taken "$PORT"; do PORT=$((PORT + 1)); done
    echo "$PORT" >"$RUN/cluster.port"
    local url
    for url in "$RUN"/{database,proxy}.url; do
        [[ ! -f $url ]] || sed "s|@127.0.0.1:[0-9]*/|@127.0.0.1:$PORT/|" "$url" | write_secret "$url"
    done
}

# A socket next to the data for psql, unless its path is too long for a socket.
socket_folder() {
    local folder="$RUN/socket"
    ((${#folder} + ${#PORT} + 12 <= 107)) || return 0
    as_server_user test -x "$RUN" || return 0
    # Removes the socket of a killed server.
    rm -rf "$folder"
    make_private_folder "$folder"
    printf '%s\n' "$folder"
}

# A quarter of the memory, as PostgreSQL's manual recommends, but at most 1 GB.
shared_buffers() {
    awk '/^MemTotal:/ { quarter = int($2 / 4096); print (quarter < 1024 ? quarter : 1024) "MB" }' /proc/meminfo
}

# Whether this server responds on its port, which another program may have taken.
server_is_ready() {
    local lines
    kill -0 "$SERVER_PID" 2>/dev/null || return 1
    # The lines of the lock file with the process id, the port and the state.
    lines="$(sed --quiet '1p;4p;8p' "$1/postmaster.pid" 2>/dev/null | tr --squeeze-repeats ' \n' ' ')"
    [[ $lines == "$SERVER_PID $PORT ready " ]] &&
        "$PG_BIN/pg_isready" --quiet --host=127.0.0.1 --port="$PORT" --username=postgres
}

start_server() {
    local data log_size try
    # Resolves the link, because the server may be unable to follow it.
    data="$(readlink --canonicalize "$DATA")"
    as_server_user test -x "$data" || die "The user postgres cannot enter $data any more." \
        "Let it (chmod o+x on the folders above), or begin with an empty cluster: rm -rf .run"
    for ((try = 0; try < 5; try++)); do
        choose_port
        log_size="$(stat --format=%s "$SERVER_LOG" 2>/dev/null || echo 0)"
        launch_server "$data"
        ! wait_for_server "$data" || return 0
        stop_server
        tail --bytes=+$((log_size + 1)) "$SERVER_LOG" | grep --quiet 'Address already in use' || break
        say "Port $PORT was taken meanwhile: trying the next one"
        echo $((PORT + 1)) >"$RUN/cluster.port"
    done
    tail -n 20 "$SERVER_LOG" >&2
    die "PostgreSQL did not start: read $SERVER_LOG"
}

launch_server() {
    # A separate session protects the server from Ctrl-C, because it must outlive the proxy's last request. If the parent dies, the
    # server gets SIGINT, so nothing keeps running if this script is killed.
    (cd / && exec setsid env --unset=RUST_BACKTRACE "${SERVER_USER[@]}" setpriv --pdeathsig INT \
        "$PG_BIN/postgres" -D "$1" \
        -c port="$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$(socket_folder)" \
        -c shared_buffers="$(shared_buffers)" -c log_line_prefix='%m [%p] %q%u@%d ') \
        >>"$SERVER_LOG" 2>&1 </dev/null 3>&- 9>&- &
    SERVER_PID=$!
}

wait_for_server() {
    local attempt
    # Crash recovery has no time limit, so only a dead server ends the wait early.
    for ((attempt = 0; attempt < 3000; attempt++)); do
        ! server_is_ready "$1" || return 0
        kill -0 "$SERVER_PID" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

stop_server() {
    [[ -n $SERVER_PID ]] || return 0
    # SIGINT is PostgreSQL's fast shutdown, which ends sessions and writes a checkpoint.
    kill -INT "$SERVER_PID" 2>/dev/null || true
    wait "$SERVER_PID" 2>/dev/null || true
}

# A server of another major version rejects the data, and reports that only in its log.
check_major() {
    local found
    found="$(cat "$DATA/PG_VERSION" 2>/dev/null)" || return 0
    [[ $found == "$PG" ]] ||
        die "The cluster in $RUN has PostgreSQL $found, not $PG. Start it with: make run PG=$found." \
            "Or have another one beside it: make run PG=$PG KEYED_RUN=$RUN-$PG"
}

start_cluster() {
    [[ -f $DATA/PG_VERSION ]] || create_cluster
    [[ -f $RUN/database.url ]] ||
        die "$RUN/database.url with the password is missing. To start with an empty cluster: rm -rf .run"
    stop_forgotten_server "$(readlink --canonicalize "$DATA")"
    start_server
}

# Runs psql as superuser, with unaligned output. The password is in the environment, because arguments are public.
sql() {
    PGPASSWORD="$(password_of "$RUN/database.url")" "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align \
        --set=ON_ERROR_STOP=1 --host=127.0.0.1 --port="$PORT" --username=postgres "$@" 3>&- 9>&-
}
