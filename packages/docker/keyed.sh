#!/bin/bash
# Sets up the database of a new cluster: the entry point of the image of PostgreSQL runs it once.
set -euo pipefail

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=password="$(cat "$KEYED_PROXY_PASSWORD_FILE")" <<'SQL'
create extension keyed cascade;
\o /dev/null
select keyed.init();
\o
alter role keyed_proxy password :'password';
-- BI tools have their first statement planned as all others.
select format('alter database %I set session_preload_libraries = keyed', current_database()) \gexec
SQL
