\set word random(0, 4999)
select keyed.search('bench.works', ('{"global_search": "' || substr(plain.word(:word), 2) || '", "limit": 50}')::jsonb);
