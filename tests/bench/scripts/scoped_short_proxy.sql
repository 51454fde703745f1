-- A word of every record, and two digits that begin a word of many.
\set number random(10, 99)
select keyed_http.search('works', '{"global_search": "city ' || :number || '", "limit": 50}')
from keyed.authenticate(:hash, 'bench');
