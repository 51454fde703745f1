\set key random(250000, 254999)
select row_to_json(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from bench.works where external_key = 'W-' || :key and deleted_at is null and :scope
) as record;
