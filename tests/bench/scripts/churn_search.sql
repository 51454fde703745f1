\set kind random(1, 2)
\set city random(0, 999)
\set price random(0, 8000)
\set word random(0, 4990)
\if :kind = 1
select keyed.search('bench.works', ('{"filters": [{"field": "city", "operator": "eq", "value": "City ' || :city
  || '"}, {"field": "price", "operator": "gte", "value": ' || :price || '}], "sort": "-price", "limit": 50}')::jsonb);
\else
select keyed.search('bench.works', ('{"global_search": "' || plain.word(:word) || ' ' || plain.word(:word + 3)
  || '", "limit": 50}')::jsonb);
\endif
