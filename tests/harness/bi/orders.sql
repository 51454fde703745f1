-- Orders of two years and their customers, in four regions, one of which is the scope. Every 97th order is deleted.
-- Orders are due every third day in the two years before today, so the last thirty days have the same ones after midnight.
select keyed.create_project('crm', 'CRM');
select keyed.create_template('crm', 'customers', '[
  {"slug": "name", "type": "string", "indexed": true, "label": "Name of the company"},
  {"slug": "city", "type": "string"},
  {"slug": "account", "type": "number", "indexed": true},
  {"slug": "region", "type": "string"}]');
select keyed.create_template('crm', 'orders', '[
  {"slug": "title", "type": "string", "indexed": true, "label": "What was ordered"},
  {"slug": "status", "type": "string"},
  {"slug": "region", "type": "string"},
  {"slug": "price", "type": "number", "indexed": true},
  {"slug": "quantity", "type": "number"},
  {"slug": "account", "type": "number"},
  {"slug": "bought", "type": "date", "indexed": true},
  {"slug": "shipped", "type": "datetime", "indexed": true},
  {"slug": "due", "type": "date", "indexed": true},
  {"slug": "tags", "type": "list", "indexed": true},
  {"slug": "customer", "type": "reference", "template": "customers"}]');

set synchronous_commit = off;

insert into crm.customers (external_key, name, city, account, region)
select 'C-' || n, 'Customer ' || md5(n::text), 'City ' || n / 4 % 200, 100000 + n, (array['EU', 'US', 'ASIA', 'AFR'])[1 + n % 4]
from generate_series(0, :customers - 1) as n;

insert into crm.orders (external_key, title, status, region, price, quantity, account, bought, shipped, due, tags, customer)
select 'O-' || n, 'Order ' || md5(n::text),
  case when n % 50 > 0 then (array['open', 'paid', 'shipped', 'returned', 'lost'])[1 + n / 4 % 5] end,
  (array['EU', 'US', 'ASIA', 'AFR'])[1 + n % 4], n::bigint * 7919 % 100000 / 100.0, n % 12, 100000 + n % :customers,
  date '2024-01-01' + (n::bigint * 31 % 730)::integer,
  case when n % 20 > 0 then timestamptz '2024-01-03T00:00:00Z' + n::bigint * 31 % 730 * interval '1 day' + n % 1440 * interval '1 minute' end,
  current_date - 10 - (n::bigint * 31 % 243)::integer * 3,
  array['t' || n / 4 % 50, 'u' || n % 7], customers.ids[1 + n % :customers]
from (select array_agg(id order by substr(external_key, 3)::integer) as ids from crm.customers) as customers,
  generate_series(1, :records) as n;

update crm.customers set deleted_at = now() where substr(external_key, 3)::integer % 97 = 5;
update crm.orders set deleted_at = now() where substr(external_key, 3)::integer % 97 = 0;

-- The equivalent for an administrator: PostgreSQL inlines the views into the statement.
create schema scoped_by_hand;
create view scoped_by_hand.orders as select * from crm.orders where deleted_at is null and region = 'EU';
create view scoped_by_hand.customers as select * from crm.customers where deleted_at is null and region = 'EU';
create schema all_by_hand;
create view all_by_hand.orders as select * from crm.orders where deleted_at is null;
create view all_by_hand.customers as select * from crm.customers where deleted_at is null;
