-- Everything that an upsert of keyed writes, by hand: the record, the point, and the previous value of the counter.
\set key random(1, :records)
\set value random(1, 1000000)
with before as (
  select visits, temperature from plain.sensors where external_key = 'A-' || :key and deleted_at is null
), written as (
  update plain.sensors set visits = visits + 1, temperature = :value, updated_at = now()
  where external_key = 'A-' || :key and deleted_at is null
  returning id, external_key, visits, temperature
), logged as (
  insert into plain.sensors_history (record_id, at, actor, source, operation, external_key, changes)
  select written.id, now(), 'bench', 'sql', 'update', written.external_key,
    jsonb_build_object(
      'visits', jsonb_build_object('old', before.visits, 'new', written.visits),
      'temperature', jsonb_build_object('old', before.temperature, 'new', written.temperature))
  from written, before
)
insert into plain.sensors_series (record_id, attribute_id, at, value)
select id, 1, now(), :value::double precision from written
returning record_id;
