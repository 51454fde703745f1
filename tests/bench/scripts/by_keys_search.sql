\set first random(1, :records)
select keyed.search('bench.customers', jsonb_build_object('limit', 1000, 'filters', jsonb_build_array(jsonb_build_object(
  'field', 'external_key', 'operator', 'in', 'value', (select jsonb_agg('A-' || 1 + (:first + n * 7919::bigint) % :records) from generate_series(1, 1000) n)))));
