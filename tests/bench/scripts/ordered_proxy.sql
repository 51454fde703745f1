\set price random(500, 9999)
\set amount random(40, 60)
select keyed_http.search('works', '{"filters": [{"field": "price", "operator": "lte", "value": ' || :price
  || '}, {"field": "amount", "operator": "gte", "value": ' || :amount || '}], "sort": "-price", "limit": 50}')
from keyed.authenticate((select hash from plain.caller), 'bench');
