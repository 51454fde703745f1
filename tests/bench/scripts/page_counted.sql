\set n random(1, 5)
-- The thousandth page, found by OFFSET, to check the page of the cursor.
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from bench.works
  where price <= (select price from plain.pages where n = :n) and deleted_at is null
  order by price desc, id desc offset 49950 limit 50
) as record;
