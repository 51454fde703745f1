\set price random(500, 9999)
\set amount random(40, 60)
select keyed.search('bench.works', ('{"filters": [{"field": "price", "operator": "lte", "value": ' || :price
  || '}, {"field": "amount", "operator": "gte", "value": ' || :amount || '}], "sort": "-price", "limit": 50}')::jsonb);
