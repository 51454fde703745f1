\set key random(1, 500000)
\set price random(0, 9999)
\set word random(0, 4990)
-- A price and a text, so the text index is updated as well.
select * from keyed.upsert_by_key('bench.works', 'W-' || :key, ('{"price": ' || :price || ', "notes": "'
  || plain.word(:word) || ' ' || plain.word(:word + 1) || ' ' || plain.word(:word + 3) || ' ' || plain.word(:word + 5)
  || '"}')::jsonb);
