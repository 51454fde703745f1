\set city random(0, 999)
\set price random(0, 8000)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from bench.works
  where left(city, 200) = 'City ' || :city and price >= :price and deleted_at is null and :scope
  order by price desc, id desc limit 50
) as record;
