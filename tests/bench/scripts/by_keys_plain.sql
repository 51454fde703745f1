\set first random(1, :records)
select json_object_agg(record.external_key, row_to_json(record)) from plain.customers as record
where external_key = any (array(select 'A-' || 1 + (:first + n * 7919::bigint) % :records from generate_series(1, 1000) n))
  and deleted_at is null;
