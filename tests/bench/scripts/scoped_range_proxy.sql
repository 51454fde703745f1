\set price random(0, 9989)
select keyed_http.search('works', '{"filters": [{"field": "price", "operator": "gte", "value": ' || :price
  || '}, {"field": "price", "operator": "lt", "value": ' || :price::numeric + 10 || '}], "sort": "-price", "limit": 50}')
from keyed.authenticate(:hash, 'bench');
