\set word random(5000, 24999)
select keyed.search('bench.works', ('{"filters": [{"field": "title", "operator": "like", "value": "'
  || substr(plain.word(:word), 2) || '"}], "limit": 50}')::jsonb);
