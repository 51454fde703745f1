\set word random(0, 4990)
select keyed_http.search('works', '{"global_search": "' || plain.word(:word) || ' ' || plain.word(:word + 3)
  || '", "limit": 50}')
from keyed.authenticate(:hash, 'bench');
