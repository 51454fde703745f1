-- The beginning of a word of every record.
select keyed_http.search('works', '{"global_search": "ci", "limit": 50}') from keyed.authenticate(:hash, 'bench');
