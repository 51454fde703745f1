# shellcheck shell=bash disable=SC2034 # The variables are for .dev/run.
# The private PostgreSQL cluster of `make run`, sourced by .dev/run. Its data is .run/cluster, its port is remembered.

# Another folder is for a service beside that of `make run`.
RUN="$(realpath --canonicalize-missing "${KEYED_RUN:-$CLONE/.run}")"
readonly RUN
readonly DATA="$RUN/cluster"
readonly SERVER_LOG="$RUN/postgresql.log"
CLUSTER_IS_NEW=false
SERVER_PID=""

# PostgreSQL refuses to run as root. setpriv becomes the program itself, where runuser would stay between as its
# parent, so a signal for the server reaches the server.
SERVER_USER=()
if is_root; then SERVER_USER=(setpriv --reuid=postgres --regid=postgres --init-groups); fi

# From / because PostgreSQL's programs give up where they cannot return to the folder they were started in.
# Backtraces of Rust would flood the server's log with every error of a client.
as_server_user() { (cd / && exec env --unset=RUST_BACKTRACE "${SERVER_USER[@]}" "$@"); }

random_password() { head --bytes=24 /dev/urandom | od --address-radix=n --format=x1 | tr --delete ' \n'; }

port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A file that only its owner may read, even in the moment of its making.
write_secret() { (umask 077 && cat >"$1.new" && mv "$1.new" "$1"); }

password_of() { sed --quiet 's|^postgresql://[^:]*:\([^@]*\)@.*|\1|p' "$1"; }

# A folder that belongs to PostgreSQL's user and that only this user can open.
make_private_folder() {
    if is_root; then
        install --directory --owner=postgres --group=postgres --mode=700 "$1"
    else
        install --directory --mode=700 "$1"
    fi
}

# Where PostgreSQL's user cannot enter the clone (one in /root, for example), the data lies beside Debian's own
# clusters and .run/cluster is a link to it.
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
    # Plain SQL then sorts texts in the order of Unicode, as searches do. A PostgreSQL without ICU has the order of bytes.
    ! has_icu || order=(--locale-provider=icu --icu-locale=und)
    say "Creating a PostgreSQL cluster in $folder"
    # What is there without .run/cluster was left by an earlier clone of the same path, or by an interrupted start.
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
    # The last step completes the cluster: after an interruption before it, the next run starts over.
    mv "$folder.new" "$folder"
    [[ $folder == "$DATA" ]] || ln --symbolic --no-dereference --force "$folder" "$DATA"
    CLUSTER_IS_NEW=true
}

# A server whose `make run` was killed, or the lock file of one that went down with the machine. Process numbers
# return, so the working directory tells whether the number is still that server: a postmaster stays in its data.
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

# A socket beside the data for psql's convenience, unless its path is longer than a socket's may be.
socket_folder() {
    local folder="$RUN/socket"
    ((${#folder} + ${#PORT} + 12 <= 107)) || return 0
    as_server_user test -x "$RUN" || return 0
    # The socket of a server that was killed would be in the way.
    rm -rf "$folder"
    make_private_folder "$folder"
    printf '%s\n' "$folder"
}

# A quarter of the memory, as PostgreSQL's manual advises, and no more than a gigabyte of a developer's machine.
shared_buffers() {
    awk '/^MemTotal:/ { quarter = int($2 / 4096); print (quarter < 1024 ? quarter : 1024) "MB" }' /proc/meminfo
}

# Whether this very server answers on its port: another program may have taken the port a moment before.
server_is_ready() {
    local lines
    kill -0 "$SERVER_PID" 2>/dev/null || return 1
    # Of the lock file these lines are the process number, the port and the state.
    lines="$(sed --quiet '1p;4p;8p' "$1/postmaster.pid" 2>/dev/null | tr --squeeze-repeats ' \n' ' ')"
    [[ $lines == "$SERVER_PID $PORT ready " ]] &&
        "$PG_BIN/pg_isready" --quiet --host=127.0.0.1 --port="$PORT" --username=postgres
}

start_server() {
    local data log_size try
    # Through the link, for the server may be unable to follow it.
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
    # A session of its own keeps Ctrl-C from the server, which must outlive the proxy's last request; the parent's
    # death reaches it as SIGINT, so nothing is left running when this script is killed.
    (cd / && exec setsid env --unset=RUST_BACKTRACE "${SERVER_USER[@]}" setpriv --pdeathsig INT \
        "$PG_BIN/postgres" -D "$1" \
        -c port="$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$(socket_folder)" \
        -c shared_buffers="$(shared_buffers)" -c log_line_prefix='%m [%p] %q%u@%d ') \
        >>"$SERVER_LOG" 2>&1 </dev/null 3>&- 9>&- &
    SERVER_PID=$!
}

wait_for_server() {
    local attempt
    # Recovery after a crash takes as long as it takes, so only a dead server ends the wait early.
    for ((attempt = 0; attempt < 3000; attempt++)); do
        ! server_is_ready "$1" || return 0
        kill -0 "$SERVER_PID" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

stop_server() {
    [[ -n $SERVER_PID ]] || return 0
    # SIGINT is PostgreSQL's fast shutdown: open sessions are ended, everything is written.
    kill -INT "$SERVER_PID" 2>/dev/null || true
    wait "$SERVER_PID" 2>/dev/null || true
}

# Programs of another major version refuse the data, and would say so in a log only.
check_major() {
    local found
    found="$(cat "$DATA/PG_VERSION" 2>/dev/null)" || return 0
    [[ $found == "$PG" ]] ||
        die "The cluster in $RUN is of PostgreSQL $found, not $PG. Start it as what it is: make run PG=$found." \
            "Or have another one beside it: make run PG=$PG KEYED_RUN=$RUN-$PG"
}

start_cluster() {
    [[ -f $DATA/PG_VERSION ]] || create_cluster
    [[ -f $RUN/database.url ]] ||
        die "$RUN/database.url with the password is gone. To begin with an empty cluster: rm -rf .run"
    stop_forgotten_server "$(readlink --canonicalize "$DATA")"
    start_server
}

# psql as superuser; what it prints are bare values. The password goes by the environment: arguments are public.
sql() {
    PGPASSWORD="$(password_of "$RUN/database.url")" "$PG_BIN/psql" --no-psqlrc --quiet --tuples-only --no-align \
        --set=ON_ERROR_STOP=1 --host=127.0.0.1 --port="$PORT" --username=postgres "$@" 3>&- 9>&-
}
