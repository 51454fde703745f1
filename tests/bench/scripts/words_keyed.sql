\set word random(0, 4990)
select keyed.search('bench.works', ('{"global_search": "' || plain.word(:word) || ' ' || plain.word(:word + 3)
  || '", "limit": 50}')::jsonb);
