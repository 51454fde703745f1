\set word random(0, 4990)
-- Ranked as in part_plain.sql.
with sought as (
  select E'\x1d' || upper((ts_lexize('english_stem', plain.word(:word)))[1]) || E'\x1d' as one,
    E'\x1d' || upper((ts_lexize('english_stem', plain.word(:word + 3)))[1]) || E'\x1d' as other
), page as (
  select record_id, case
    when strpos(title, one) > 0 and strpos(title, other) > 0 then 2
    when strpos(document, one) > 0 and strpos(document, other) > 0 then 1 else 0 end as rank
  from sought, (
    select record_id, document, split_part(document, E'\x1f', 2) || split_part(document, E'\x1f', 3) as title
    from plain.works_text
    where document like '%' || plain.word(:word) || '%' and document like '%' || plain.word(:word + 3) || '%'
  ) as hit
  order by rank desc, record_id desc limit 50
)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from page join bench.works on id = record_id where deleted_at is null
  order by rank desc, id desc
) as record;
