\set key random(250000, 254999)
select keyed_http.get_by_key(:template::text, 'W-' || :key, null, null);
