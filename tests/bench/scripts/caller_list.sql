\set caller random(1, :callers)
\set score random(1, 10000)
select keyed_http.search('customers', '{"filters": [{"field": "score", "operator": "gte", "value": ' || :score
  || '}], "limit": 50}')
from keyed.authenticate((select hash from plain.callers where number = :caller), 'bench');
