-- The demo: the project `crm` with companies, customers and orders. For psql, as superuser, in a database with keyed:
-- `make run` runs it in a new cluster, elsewhere `keyed-proxy demo | psql …` does. It is one transaction.
-- The keys that it prints at the end are shown only once.
--
-- Values are computed from record numbers, so each run creates the same records. Dates of birth and of foundation are fixed. Other
-- dates are relative to the day of the run, so that views of open orders and charts of a year are never empty.

\set ON_ERROR_STOP 1
\set QUIET 1
-- Omits the PL/pgSQL context of errors, which does not help readers.
\set SHOW_CONTEXT never
\o /dev/null
begin;
-- A superuser runs this script, so names must not resolve in schemas of other roles.
set local search_path = pg_catalog, pg_temp;

do $$
begin
  if to_regprocedure('keyed.create_project(text,text)') is null then
    raise exception 'this database has no extension keyed'
      using hint = 'Run CREATE EXTENSION keyed CASCADE; SELECT keyed.init(); and then the demo again.';
  elsif to_regnamespace('crm') is not null then
    raise exception 'schema "crm" already exists: the demo was not made'
      using hint = 'Nothing has changed. To make the demo again, run SELECT keyed.drop_project(''crm'', with_records => true); first. '
        'It deletes all records of that project.';
  elsif exists (select from pg_roles r where rolname = 'sales_bern'
                and (rolcanlogin or rolsuper or exists (select from pg_auth_members m where m.member = r.oid))) then
    raise exception 'role "sales_bern" already exists, and may log in or has the rights of another role: the demo was not made'
      using hint = 'Nothing has changed. The demo grants this role access to its records. Rename yours, or use another server.';
  end if;
end $$;

-- Definitions

select keyed.create_project('crm', 'CRM');

select keyed.create_template('crm', 'companies', '[
  {"slug": "name", "type": "string", "label": "Name", "required": true, "indexed": true},
  {"slug": "city", "type": "string", "label": "City", "indexed": true},
  {"slug": "industry", "type": "list", "label": "Industry", "options": [
    {"value": "construction", "label": "Construction"}, {"value": "energy", "label": "Energy"},
    {"value": "food", "label": "Food and drink"}, {"value": "health", "label": "Health"},
    {"value": "media", "label": "Media and printing"}, {"value": "software", "label": "Software"},
    {"value": "trade", "label": "Trade"}, {"value": "travel", "label": "Travel"}]},
  {"slug": "founded", "type": "date", "label": "Founded"},
  {"slug": "employees", "type": "number", "label": "Employees"},
  {"slug": "revenue", "type": "metric", "label": "Revenue of a week"}
]', 'Companies');

-- Notes are embedded if a supported version of pgvector is installed.
select keyed.create_template('crm', 'customers', '[
  {"slug": "name", "type": "string", "label": "Name", "required": true, "indexed": true},
  {"slug": "city", "type": "string", "label": "City", "indexed": true},
  {"slug": "company", "type": "reference", "template": "companies", "label": "Company"},
  {"slug": "credit", "type": "number", "label": "Credit", "indexed": true},
  {"slug": "visits", "type": "metric", "label": "Visits of a week"},
  {"slug": "segments", "type": "list", "label": "Segments", "options": [
    {"value": "new", "label": "New"}, {"value": "regular", "label": "Regular"},
    {"value": "key_account", "label": "Key account"}, {"value": "wholesale", "label": "Wholesale"}]},
  {"slug": "born", "type": "date", "label": "Born"},
  {"slug": "last_seen", "type": "datetime", "label": "Last seen"},
  {"slug": "newsletter", "type": "boolean", "label": "Newsletter"},
  {"slug": "notes", "type": "string", "label": "Notes"}
]', 'Customers', embed => case when exists (select from pg_type where typname = 'halfvec') then '{notes}'::text[] end);

select keyed.create_template('crm', 'orders', '[
  {"slug": "customer", "type": "reference", "template": "customers", "label": "Customer", "required": true},
  {"slug": "status", "type": "list", "label": "Status", "options": [
    {"value": "open", "label": "Open"}, {"value": "paid", "label": "Paid"},
    {"value": "shipped", "label": "Shipped"}, {"value": "returned", "label": "Returned"}]},
  {"slug": "placed", "type": "date", "label": "Placed", "indexed": true},
  {"slug": "items", "type": "number", "label": "Items"},
  {"slug": "total", "type": "number", "label": "Total", "indexed": true},
  {"slug": "gift", "type": "boolean", "label": "Gift wrapping"}
]', 'Orders');

-- Records

insert into crm.companies (external_key, name, city, industry, founded, employees)
select 'reg:' || 100 + n, name, city, array[industry], date '1921-03-01' + (n * 7919 % 36500), 4 + n * n * 37 % 900
from (values
  (1, 'Bernoulli AG', 'Bern', 'software'), (2, 'Aare Druck AG', 'Bern', 'media'), (3, 'Gurten Bau AG', 'Bern', 'construction'),
  (4, 'Bundesplatz Reisen', 'Bern', 'travel'), (5, 'Lauben Apotheke', 'Bern', 'health'), (6, 'Zytglogge Verlag', 'Bern', 'media'),
  (7, 'Emmental Molkerei AG', 'Bern', 'food'), (8, 'Rheinhafen Handel AG', 'Basel', 'trade'),
  (9, 'Curie Pharma SA', 'Basel', 'health'), (10, 'Euler Software GmbH', 'Basel', 'software'),
  (11, 'Münster Holzbau', 'Basel', 'construction'), (12, 'Fasnacht Druck', 'Basel', 'media'),
  (13, 'Dreiland Energie AG', 'Basel', 'energy'), (14, 'Limmat Software AG', 'Zurich', 'software'),
  (15, 'Uetliberg Bau AG', 'Zurich', 'construction'), (16, 'Dürer Optik GmbH', 'Zurich', 'trade'),
  (17, 'Seefeld Verlag AG', 'Zurich', 'media'), (18, 'Paradeplatz Reisen AG', 'Zurich', 'travel'),
  (19, 'Ada & Co', 'Zurich', 'software'), (20, 'Oerlikon Solar AG', 'Zurich', 'energy'),
  (21, 'Sihl Kaffee GmbH', 'Zurich', 'food'), (22, 'Klinik am Zürichberg', 'Zurich', 'health'),
  (23, 'Hardbrücke Velos', 'Zurich', 'trade'), (24, 'Altstetten Logistik AG', 'Zurich', 'trade'),
  (25, 'Léman Voyages SA', 'Geneva', 'travel'), (26, 'Jet d''Eau Énergie SA', 'Geneva', 'energy'),
  (27, 'Carouge Imprimerie', 'Geneva', 'media'), (28, 'Salève Montres SA', 'Geneva', 'trade'),
  (29, 'Rhône Santé SA', 'Geneva', 'health'), (30, 'Lavaux Vins SA', 'Lausanne', 'food'),
  (31, 'Ouchy Logiciels Sàrl', 'Lausanne', 'software'), (32, 'Flon Constructions SA', 'Lausanne', 'construction'),
  (33, 'Olympe Voyages Sàrl', 'Lausanne', 'travel'), (34, 'Pilatus Bahnen AG', 'Lucerne', 'travel'),
  (35, 'Reuss Energie AG', 'Lucerne', 'energy'), (36, 'Kapellbrücke Konditorei', 'Lucerne', 'food'),
  (37, 'Ceresio Viaggi SA', 'Lugano', 'travel'), (38, 'Monte Brè Costruzioni', 'Lugano', 'construction'),
  (39, 'Säntis Käse AG', 'St. Gallen', 'food'), (40, 'Gallus Textil AG', 'St. Gallen', 'trade')
) as company (n, name, city, industry);

-- Four of five customers work for a company, in its city.
insert into crm.customers
  (external_key, name, city, company, credit, visits, segments, born, last_seen, newsletter, notes)
select
  'erp:' || 4000 + n,
  ('{Ada,Anna,Beat,Ben,Carla,Chloé,Daniel,David,Élodie,Elena,Emil,Fatima,Felix,Giorgio,Hana,Hugo,Ines,Jan,Jürg,Julia,Karim,Lara,Léa,Luca,Mara,Marco,Mia,Nina,Noah,Olivia,Paul,Rosa,Samuel,Sara,Simon,Sofia,Thomas,Ursina,Valérie,Yara}'::text[])[1 + n * 17 % 40]
  || ' ' ||
  ('{Aebi,Ammann,Baumann,Bianchi,Blanc,Brunner,Burri,Conti,Dubois,Egli,Favre,Fischer,Frei,Gerber,Graf,Hofer,Huber,Kessler,Kunz,Lüthi,Meier,Monnier,Moser,Müller,Nguyen,O''Brien,Perrin,Pfister,Rochat,Roth,Schmid,Šimić,Steiner,Suter,Weber,Wyss,Zahnd}'::text[])[1 + n * 7 % 37],
  coalesce(c.city, ('{Zurich,Bern,Basel,Geneva,Lausanne,Winterthur,Lucerne,Thun}'::text[])[1 + (n / 5 + n / 40) % 8]),
  c.id,
  round(n * 82639 % 999983 / 100.0, 2),
  case when n % 4 <> 0 and n % 15 <> 4 and n % 11 <> 3 then n * 13 % 11 end, -- The others get a series.
  case when n % 6 = 0 then '{new}' when n % 15 = 4 then '{regular,key_account}' when n % 11 = 3 then '{regular,wholesale}'
    else '{regular}' end::text[],
  date '1944-02-11' + (n * 6151 % 22000),
  date_trunc('minute', now()) - make_interval(days => n * 37 % 300, mins => n * 71 % 600),
  n % 3 <> 1,
  case when n % 4 <> 3 then concat_ws(' ',
    ('{Prefers to be called in the morning.,Speaks French and Italian.,Wants invoices on paper.,Pays within a week.,"Asked twice about the new catalogue.",Orders for three branches.,"Visited the exhibition in May.",Recommended by a colleague.}'::text[])[1 + n / 4 % 8],
    ('{"Asks for the terms of delivery.","Deliveries go to the back door.","Was unhappy with a late delivery, and got a voucher.",Likes the samples.,"Is away in August."}'::text[])[1 + n / 3 % 7]) end
from generate_series(1, 1200) n
left join crm.companies c on n % 5 <> 0 and c.external_key = 'reg:' || 101 + (n * 11 + n / 40) % 40
where n not in (711, 712)
order by n;

-- The records that the documentation shows.
insert into crm.customers (external_key, name, city, company, credit, segments, born, last_seen, newsletter, notes)
select v.external_key, v.name, c.city, c.id, credit, segments::text[], born, date_trunc('minute', now()) - interval '3 days', true, notes
from (values
  ('erp:4711', 'Ada Keller', 'Bernoulli AG', 100.50, '{regular,key_account}', date '1976-12-10',
    'Writes letters, no emails. Wants the catalogue of garden lanterns each spring.'),
  ('erp:4712', 'Ben Rossi', 'Limmat Software AG', 20, '{new}', date '1990-05-01', 'Met at the trade fair.')
) v (external_key, name, company, credit, segments, born, notes)
join crm.companies c on c.name = v.company;

-- A third of the orders belongs to the 80 key accounts. Of the other customers, some order often, and many rarely or never.
insert into crm.orders (external_key, customer, status, placed, items, total, gift)
select 'web:' || 10000 + n, c.id, '{open}', current_date - (2400 - n) * 364 / 2400, items,
  items * ('{12.90,24.50,49.90,79.00,119.00,8.40,35.00,249.00}'::numeric[])[1 + n * 5 % 8], n % 9 = 0
from generate_series(1, 2400) n
cross join lateral (select 1 + n * n % 6 as items, n * 48271 % 65537 % 1200 as r) o
join crm.customers c on c.external_key = 'erp:' || case when n % 97 = 5 then 4711
  when n % 3 = 0 then 4004 + n / 3 % 80 * 15 else 4001 + r * r / 1200 end
order by n;

-- Series of a year: 52 weeks of revenue, and of visits of frequent customers.
select keyed.patch_record(id, jsonb_build_object('attributes', jsonb_build_object('revenue', points)))
from crm.companies c, lateral (
  select jsonb_agg(jsonb_build_object('value',
      round((c.employees + 40) * (21 + 6 * sin((w + c.employees) / 8.3) + w / 9.0 + w * w * 13 % 7)),
      'at', date_trunc('day', now()) - make_interval(weeks => 52 - w))) as points
  from generate_series(1, 52) w
) series;

select keyed.patch_record(id, jsonb_build_object('attributes', jsonb_build_object('visits', points)))
from crm.customers c, lateral (
  select jsonb_agg(jsonb_build_object('value', (substr(c.external_key, 5)::integer * 13 + w * w * 7) % 11 * (w + 20) / 36,
      'at', date_trunc('day', now()) - make_interval(weeks => 52 - w))) as points
  from generate_series(1, 52) w
) series
where c.segments && '{key_account,wholesale}';

-- Views, access, an endpoint

select keyed.save_view('crm.customers', 'new_in_bern', '{
  "filters": [{"field": "city", "operator": "eq", "value": "Bern"}, {"field": "segments", "operator": "in", "value": "new"}],
  "sort": "-last_seen"}', 'New in Bern');
select keyed.save_view('crm.orders', 'open_orders', '{
  "filters": [{"field": "status", "operator": "in", "value": "open"}], "sort": "placed"}', 'Open orders');

do $$
begin
  create role sales_bern;
exception when duplicate_object or unique_violation then
  null; -- Another database of this server has the demo, too.
end $$;
select keyed.grant_access('sales_bern', 'crm.companies', '{read}');
select keyed.grant_access('sales_bern', 'crm.customers', '{read,update}', '{"field": "city", "operator": "eq", "value": "Bern"}');
select keyed.grant_access('sales_bern', 'crm.orders', '{read,create,update}',
  '{"field": "customer.city", "operator": "eq", "value": "Bern"}');
select keyed.issue_api_key('sales_bern', '{crm}', 'sales_bern') as sales_key \gset demo_

select keyed.create_inbound_endpoint('crm.orders', '{
  "slug": "web_shop", "items": "$.orders[*]", "external_key": "$.number", "key_prefix": "web:", "signed": false,
  "mapping": {"customer": {"path": "$.customer", "key_prefix": "erp:"}, "status": "$.status", "placed": "$.date",
              "items": "$.items", "total": "$.total"}}') ->> 'token' as token \gset demo_

-- History: orders go on, credits and addresses change, the sales role writes too.

update crm.orders set status = '{paid}' where placed < current_date - 9;
update crm.orders set status = '{shipped}' where placed < current_date - 14 and substr(external_key, 5)::integer % 3 <> 0;
update crm.orders set status = '{returned}' where placed < current_date - 30 and substr(external_key, 5)::integer % 41 = 0;
update crm.customers set credit = credit - 20 where external_key = 'erp:4711';
update crm.customers set credit = round(credit * 1.1, 2), notes = concat_ws(' ', notes, 'Credit raised after a year of orders.')
where segments @> '{key_account}' and external_key <> 'erp:4711';
set local role sales_bern;
update crm.customers set newsletter = not newsletter where substr(external_key, 5)::integer % 7 = 0;
reset role;

commit;

\o
-- `make run` writes each to .run/, under its name. psql prints them, because the server could log a statement that contains them.
\echo 'sales_bern.key |' :demo_sales_key '| API key of the role sales_bern: customers of Bern and their orders'
\echo 'web_shop.token |' :demo_token '| of the endpoint: POST /v1/inbound/<token> delivers orders'
