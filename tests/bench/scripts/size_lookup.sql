\set key random(1, :records)
select keyed_http.get_by_key('works', 'W-' || :key, null, null)
from keyed.authenticate((select hash from plain.caller), 'bench');
