select keyed_http.search('works', '{"limit": 50}')
from keyed.authenticate((select hash from plain.caller), 'bench');
