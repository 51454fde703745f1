-- The contents of all tables of keyed, a line for each table, independent of the row order.
select format('%I.%I', n.nspname, c.relname),
       query_to_xml(format('select count(*), md5(string_agg(t::text, E''\n'' order by t::text)) from %I.%I t',
                           n.nspname, c.relname), false, true, '')
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and n.nspname in ('shop', 'keyed', 'keyed_http', 'keyed_state')
order by 1;
