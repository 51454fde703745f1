\set city random(0, 999)
\set price random(0, 8000)
select keyed_http.search('works', '{"filters": [{"field": "city", "operator": "eq", "value": "City ' || :city
  || '"}, {"field": "price", "operator": "gte", "value": ' || :price || '}], "sort": "-price", "limit": 50}')
from keyed.authenticate(:hash, 'bench');
