\set key random(1000000000, 1000000000000000000)
\set name random(1, 1000000)
\set user random(1, 1000000)
\set city random(1, 1000000)
\set score random(1, 1000000)
insert into plain.bare (external_key, name, email, city, score)
values ('A-' || :key, 'Name ' || :name, 'user' || :user || '@example.org', 'City ' || :city, :score)
returning id, external_key, created_at, updated_at, name, email, city, score;
