\set one random(1, 10)
\set two random(11, 20)
\set three random(21, 30)
select keyed_http.search('papers', '{"global_search": "' || plain.frequent(:one) || ' ' || plain.frequent(:two) || ' '
  || plain.frequent(:three) || '", "limit": 50}')
from keyed.authenticate((select hash from plain.frequent_caller), 'bench');
