\set key random(1, :keys)
select keyed_http.get_by_key(:template::text, 'W-' || :key, null, null);
