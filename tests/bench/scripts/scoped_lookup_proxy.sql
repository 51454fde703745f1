\set key random(250000, 254999)
select keyed_http.get_by_key('works', 'W-' || :key, null, null) from keyed.authenticate(:hash, 'bench');
