\set key case when random(1, 100) <= :fresh then random(1000000000, 1000000000000000000) else random(1, :records) end
\set name random(1, 1000000)
\set user random(1, 1000000)
\set city random(1, 1000000)
\set score random(1, 1000000)
select * from keyed.upsert_by_key('bench.customers', 'A-' || :key,
  ('{"name": "Name ' || :name || '", "email": "user' || :user || '@example.org", "city": "City ' || :city
    || '", "score": ' || :score || '}')::jsonb);
