#!/bin/bash
# Sets up the database of a new cluster: the entry point of the image of PostgreSQL runs it once.
set -euo pipefail

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
    --set=password="$(cat "$KEYED_PROXY_PASSWORD_FILE")" <<'SQL'
create extension keyed cascade;
\o /dev/null
select keyed.init(preload => true);
\o
alter role keyed_proxy password :'password';
SQL
