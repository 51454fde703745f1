\set one random(1, 30)
select count(*) from rest.papers
where words @@ to_tsquery('english', plain.frequent(:one)) and deleted_at is null;
