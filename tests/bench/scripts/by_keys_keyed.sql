\set first random(1, :records)
select keyed.get_by_keys('bench.customers', array(select 'A-' || 1 + (:first + n * 7919::bigint) % :records from generate_series(1, 1000) n));
