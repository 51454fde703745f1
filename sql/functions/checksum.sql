-- Checksums of tables, for comparison before and after a restore.

create function keyed.checksum_report(template regclass default null) returns jsonb
  language c stable as 'MODULE_PATHNAME', 'keyed_checksum_report';
comment on function keyed.checksum_report(regclass) is
  'The result of keyed.checksums, as JSON.';

create function keyed.checksums(template regclass default null)
  returns table (template text, part text, rows bigint, checksum text, newest timestamptz)
  language sql stable
  begin atomic
    select line.template, line.part, line.rows, line.checksum, line.newest
    from rows from (pg_catalog.jsonb_to_recordset(keyed.checksum_report($1))
        as (template text, part text, rows bigint, checksum text, newest timestamptz))
      with ordinality as line (template, part, rows, checksum, newest, place)
    order by line.place;
  end;
comment on function keyed.checksums(regclass) is
  'Counts the rows of every table and computes a checksum of their content: of each template its records, history, series, documents and vectors, and the tables of the state (template null; only without a template), without usage statistics. The result does not depend on the order of rows: databases with the same content have the same result, and a different, additional or missing row changes the checksum. newest is the time of the last change. All tables are read once, with one snapshot. Run it before a backup, and after the restore before any write. Needs keyed_admin.';
