-- A second project, which the page excludes from a copy.
select keyed.create_project('staff', 'Staff');
select keyed.create_template('staff', 'people', '[{"slug": "name", "type": "string"}]');
select keyed.upsert_by_key('staff.people', '1', '{"name": "Ada"}');
