\set key random(1, :keys)
select keyed_http.get_by_key('works', 'W-' || :key, null, null) from keyed.authenticate(:hash, 'bench');
