#!/bin/bash
# Like the official one for POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB: an empty directory is initialised by a
# server that listens on the Unix socket only (so pg_isready without --host passes meanwhile), then the real one starts.
set -euo pipefail
user=${POSTGRES_USER:-postgres} db=${POSTGRES_DB:-${POSTGRES_USER:-postgres}}
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
if [[ $(id -u) == 0 ]]; then
  install -d -o postgres -g postgres -m 700 "$PGDATA"
  install -d -o postgres -g postgres -m 3775 /var/run/postgresql
  chown -R postgres:postgres "$PGDATA"
fi
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  : "${POSTGRES_PASSWORD:?superuser password is not specified}"
  file=$(as mktemp) && printf '%s\n' "$POSTGRES_PASSWORD" > "$file"
  as initdb --username "$user" --pwfile "$file" --auth-host scram-sha-256 --auth-local trust
  rm "$file"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  as pg_ctl -w -o "-c listen_addresses=''" start
  [[ $db == postgres ]] || as createdb --username "$user" "$db"
  as pg_ctl -w -m fast stop
fi
exec setpriv --reuid postgres --regid postgres --init-groups "$@" -c listen_addresses='*'
