-- 400 records of 30 kB, a page of which has 12 MB, 50,000 small ones, and two roles: one with large requests, and one with
-- small ones. psql runs this file as superuser.

select keyed.create_project('callers', 'Callers');
select keyed.create_template('callers', 'pages', '[{"slug": "text", "type": "string"}]');
select keyed.create_template('callers', 'things', '[{"slug": "name", "type": "string"}, {"slug": "number", "type": "number"}]');

insert into callers.pages (external_key, text)
select 'page:' || n, (select string_agg(md5(n || '-' || i), '') from generate_series(1, 938) i) from generate_series(1, 400) n;
insert into callers.things (external_key, name, number)
select 'thing:' || n, 'thing ' || md5(n::text), n from generate_series(1, 50000) n;

create role callers_busy;
create role callers_other;
select keyed.grant_access(role, 'callers', '{read,create,update}') from unnest(array['callers_busy', 'callers_other']) role;
vacuum analyze;
