\set key random(1, :records)
\set price random(1, 9999)
\set word random(5000, 25000)
select * from keyed.upsert_by_key('bench.works', 'W-' || :key,
  ('{"price": ' || :price || ', "title": "' || plain.word(:word) || ' ' || :price || '"}')::jsonb);
