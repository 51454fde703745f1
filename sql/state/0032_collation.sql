-- Collations of strings. A database without ICU uses byte order. Jobs rebuild the indexes of strings. A collation that a DBA set on a
-- column remains, if definitions support it. Run once, as keyed_owner.

alter table keyed_state.template add column "collation" text not null default 'und';
alter table keyed_state.attribute add column "collation" text;
comment on column keyed_state.template."collation" is 'The collation of strings: und (Unicode order), a language (de, sv), or C (byte order).';
comment on column keyed_state.attribute."collation" is 'The collation of this attribute; null: the collation of the template.';
update keyed_state.template set "collation" = 'C' where not exists (
  select from pg_collation c where c.collname = 'und-x-icu' and c.collnamespace = 'pg_catalog'::regnamespace
  and c.collencoding in (-1, pg_char_to_encoding(getdatabaseencoding())));
update keyed_state.attribute a set "collation" = regexp_replace(l.collname, '-x-icu$', '')
from keyed_state.template t, keyed_state.project p, pg_namespace n, pg_class c, pg_attribute f, pg_collation l
where t.id = a.template_id and p.id = t.project_id and n.nspname = p.slug
and c.relnamespace = n.oid and c.relname = t.slug and f.attrelid = c.oid and f.attname = a.slug and not f.attisdropped
and l.oid = f.attcollation and l.collnamespace = 'pg_catalog'::regnamespace and (l.collname = 'C' or l.collname ~ '-x-icu$')
and a.type = 'string' and regexp_replace(l.collname, '-x-icu$', '') <> t."collation";
insert into keyed_state.job (template_id, kind, attribute_id)
select a.template_id, 'index', a.id from keyed_state.attribute a where a.type = 'string' and a.indexed order by a.template_id, a.id
on conflict (template_id, kind, attribute_id) do nothing;
comment on column keyed_state.job.kind is 'index: builds the indexes of an attribute in its collation, or without an attribute the index of the search documents; documents: rewrites the search documents; embeddings: queues the records with text to embed; series: deletes the points of dropped metrics.';
