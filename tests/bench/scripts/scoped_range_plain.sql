\set price random(0, 9989)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from bench.works
  where price >= :price and price < :price::numeric + 10 and deleted_at is null and :scope
  order by price desc, id desc limit 50
) as record;
