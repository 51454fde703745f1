\set caller random(1, :callers)
\set key random(1, 10000)
select keyed_http.get_by_key('customers', 'A-' || :key, null, null)
from keyed.authenticate((select hash from plain.callers where number = :caller), 'bench');
