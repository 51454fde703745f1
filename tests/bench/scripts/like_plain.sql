\set word random(5000, 24999)
-- The document contains the title, in lowercase.
with page as (
  select id from plain.works_text join bench.works on id = record_id
  where document like '%' || lower(substr(plain.word(:word), 2)) || '%'
    and title like '%' || substr(plain.word(:word), 2) || '%' and deleted_at is null
  order by id desc limit 50
)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from page join bench.works using (id) order by id desc
) as record;
