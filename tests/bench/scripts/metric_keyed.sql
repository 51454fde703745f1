\set key random(1, :records)
\set value random(1, 1000000)
select * from keyed.upsert_by_key('bench.sensors', 'A-' || :key,
  ('{"visits": {"$inc": 1}, "temperature": ' || :value || '}')::jsonb);
