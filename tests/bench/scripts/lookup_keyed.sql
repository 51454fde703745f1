\set key random(1, :records)
select keyed.get_by_key('bench.customers', 'A-' || :key);
