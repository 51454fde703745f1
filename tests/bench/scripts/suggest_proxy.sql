\set word random(0, 4999)
\set letters random(1, 4)
select keyed_http.suggest('works', '{"prefix": "' || left(plain.word(:word), :letters) || '"}')
from keyed.authenticate((select hash from plain.caller), 'bench');
