-- A different template in each call.
\set number random(1, :templates)
select keyed.get_by_key(('bench.t' || :number)::regclass, 'A-1');
