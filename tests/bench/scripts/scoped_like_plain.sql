\set word random(5000, 24999)
-- The pattern is computed once, even if every row is read. All matches are sorted: without a constant pattern, the
-- planner would scan along the ids.
with found as materialized (
  select id from bench.works
  where title like (select '%' || substr(plain.word(:word), 3) || '%') and deleted_at is null and :scope
), page as (
  select id from found order by id desc limit 50
)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from page join bench.works using (id) order by id desc
) as record;
