\set word random(0, 4990)
-- Logins cannot read the documents. Both words are in the notes as whole words, and nowhere else.
select json_agg(record) from (
  select id, :template::text as template_id, 'works' as template_slug, external_key, created_at, updated_at, deleted_at,
    (select each from (select title, city, notes, price, amount, made, seen, tags, country, heat) as each) as attributes
  from bench.works
  where notes like (select '%' || plain.word(:word) || '%') and notes like (select '%' || plain.word(:word + 3) || '%')
    and deleted_at is null
  order by id desc limit 50
) as record;
