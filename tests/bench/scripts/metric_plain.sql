-- The latest value and the counter in the record, the point in the series.
\set key random(1, :records)
\set value random(1, 1000000)
with written as (
  update plain.sensors set visits = visits + 1, temperature = :value, updated_at = now()
  where external_key = 'A-' || :key and deleted_at is null
  returning id
)
insert into plain.sensors_series (record_id, attribute_id, at, value)
select id, 1, now(), :value::double precision from written
returning record_id;
