with found as materialized (
  select city, kind from rest.journals where words @@ to_tsquery('english', 'annual') and deleted_at is null
)
select (select count(*) from found),
  (select json_agg(c) from (select city, count(*) from found group by 1 order by 2 desc, 1 limit 100) c),
  (select json_agg(c) from (select k.kind, count(*) from found, unnest(found.kind) k (kind) group by 1 order by 2 desc, 1 limit 100) c);
