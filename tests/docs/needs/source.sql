-- A database `source` with two projects, in which the page copies one.
create database source;
\connect source
create extension keyed cascade;
select keyed.init();
select keyed.create_project('crm');
select keyed.create_template('crm', 'customers', '[{"slug": "name", "type": "string"}]');
select keyed.upsert_by_key('crm.customers', 'erp:4711', '{"name": "Ada"}');
select keyed.create_project('shop');
select keyed.create_template('shop', 'orders', '[{"slug": "total", "type": "number"}]');
select keyed.upsert_by_key('shop.orders', '1', '{"total": 1}');
