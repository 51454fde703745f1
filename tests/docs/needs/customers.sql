-- The project of most examples: customers of two cities.
select keyed.create_project('crm', 'Customer relations');
select keyed.create_template('crm', 'customers', '[
  {"slug": "name",    "type": "string", "label": "Name"},
  {"slug": "city",    "type": "string"},
  {"slug": "credit",  "type": "number"},
  {"slug": "segment", "type": "list", "options": ["retail", "wholesale"]}
]');
select keyed.upsert_by_key('crm.customers', 'erp:4711', '{"name": "Ada", "city": "Bern", "credit": 80.50}');
select keyed.upsert_by_key('crm.customers', 'erp:4712', '{"name": "Ben", "city": "Zurich", "credit": 20}');
