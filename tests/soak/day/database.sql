-- 200 templates and 300 roles, three of which have an API key, and the login of a BI tool. psql runs this file as
-- superuser, with the variable password.

select keyed.create_project('day', 'A day');
select keyed.create_template('day', 'regions', '[{"slug": "name", "type": "string"}]');
select count(keyed.upsert_by_key('day.regions', 'region:' || n, jsonb_build_object('name', 'Region ' || n)))
from generate_series(0, 99) n;

-- One statement each, because a statement holds its locks until it ends.
select format($$select keyed.create_template('day', 'things_%s', '[
  {"slug": "name", "type": "string"}, {"slug": "note", "type": "string"}, {"slug": "price", "type": "number", "indexed": true},
  {"slug": "area", "type": "number"}, {"slug": "seen", "type": "datetime"}, {"slug": "tags", "type": "list"},
  {"slug": "load", "type": "metric"}, {"slug": "region", "type": "reference", "template": "regions"}]')$$, n)
from generate_series(1, 199) n \gexec

select format('create role day_role_%s', n) from generate_series(1, 296) n \gexec
create role day_all;
create role day_quarter;
create role day_hundredth;
create role day_login login password :'password';

select format($$select keyed.grant_access('day_role_%s', 'day.things_%s', '{read}', '{"field": "area", "operator": "eq", "value": %s}')$$,
  n, 1 + n % 199, n % 100)
from generate_series(1, 296) n \gexec
select keyed.grant_access('day_all', 'day', '{read}');
select format($$select keyed.grant_access('%s', 'day.things_%s', '{read}', '{"field": "area", "operator": "lt", "value": %s}')$$, role, n, below)
from generate_series(1, 199) n, (values ('day_quarter', 25), ('day_hundredth', 1), ('day_login', 25)) r (role, below) \gexec

analyze;
