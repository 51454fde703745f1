\set word random(0, 4999)
select keyed_http.search('works', '{"global_search": "' || substr(plain.word(:word), 2) || '", "limit": 50, "highlight": true}')
from keyed.authenticate((select hash from plain.caller), 'bench');
