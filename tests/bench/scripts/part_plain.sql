\set word random(0, 4999)
-- Ranked as by keyed: whole words of the title or the key, whole words, parts of words. It does less than keyed: it has
-- no stemming, and does not search the names of countries.
with sought as (
  select part, E'\x1d' || upper((ts_lexize('english_stem', part))[1]) || E'\x1d' as whole
  from (select substr(plain.word(:word), 2) as part) as given
), page as (
  select record_id, case
    when strpos(split_part(document, E'\x1f', 2) || split_part(document, E'\x1f', 3), whole) > 0 then 2
    when strpos(document, whole) > 0 then 1 else 0 end as rank
  from plain.works_text, sought
  where document like '%' || substr(plain.word(:word), 2) || '%'
  order by rank desc, record_id desc limit 50
)
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from page join bench.works on id = record_id where deleted_at is null
  order by rank desc, id desc
) as record;
