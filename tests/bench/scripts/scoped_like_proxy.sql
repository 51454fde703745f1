\set word random(5000, 24999)
select keyed_http.search('works', '{"filters": [{"field": "title", "operator": "like", "value": "'
  || substr(plain.word(:word), 3) || '"}], "limit": 50}')
from keyed.authenticate(:hash, 'bench');
