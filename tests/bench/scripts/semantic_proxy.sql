\set n random(1, 100)
select keyed_http.semantic_search((select body from question where n = :n) || ',"filters":[:filter]}')
from keyed.authenticate(:hash, 'bench');
