-- What the quickstart of the README makes; a test compares both.
select keyed.create_project('crm');
select keyed.create_template('crm', 'customers', '[
  {"slug": "name",   "type": "string"},
  {"slug": "city",   "type": "string"},
  {"slug": "credit", "type": "number"}
]');
select keyed.upsert_by_key('crm.customers', 'erp:4711', '{"name": "Ada", "city": "Bern", "credit": 80.50}');
select keyed.upsert_by_key('crm.customers', 'erp:4712', '{"name": "Ben", "city": "Zurich", "credit": 20}');
