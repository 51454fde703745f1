\set one random(1, 30)
select keyed_http.search('papers', '{"global_search": "' || plain.frequent(:one) || '", "limit": 1, "count": "exact"}')
from keyed.authenticate((select hash from plain.frequent_caller), 'bench');
