select keyed_http.search('journals', '{"global_search": "annual", "limit": 1, "count": "exact", "facets": ["city", "kind"]}')
from keyed.authenticate((select hash from plain.frequent_caller), 'bench');
