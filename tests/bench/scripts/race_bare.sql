\set name random(1, 1000000)
\set user random(1, 1000000)
\set city random(1, 1000000)
\set score random(1, 1000000)
-- As many consecutive calls as there are racers share a new key.
insert into plain.bare as record (external_key, name, email, city, score)
values ('R-' || nextval('plain.race') / :racers, 'Name ' || :name, 'user' || :user || '@example.org', 'City ' || :city,
  :score)
on conflict (external_key) do update
  set name = excluded.name, email = excluded.email, city = excluded.city, score = excluded.score, updated_at = now()
returning id, xmax = 0 as created;
