\set one random(1, 10)
\set two random(11, 20)
\set three random(21, 30)
select json_agg(page) from (
  select id, external_key, created_at, updated_at, deleted_at, title, abstract, kind
  from rest.papers, to_tsquery('english', plain.frequent(:one) || '&' || plain.frequent(:two) || '&' || plain.frequent(:three)) as sought
  where words @@ sought and deleted_at is null
  order by ts_rank(words, sought) desc, id desc limit 50
) as page;
