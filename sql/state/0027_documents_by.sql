-- The major version whose dictionaries stemmed the documents of a template. Existing templates were created on 15, the only
-- version that keyed supported.

alter table keyed_state.template add documents_by text;
update keyed_state.template set documents_by = 'PostgreSQL 15';
alter table keyed_state.template
  alter documents_by set not null,
  alter documents_by set default 'PostgreSQL ' || current_setting('server_version_num')::integer / 10000;
comment on column keyed_state.template.documents_by is
  'The version of PostgreSQL whose dictionaries made the oldest stems in the search documents. keyed.rebuild_documents() sets it.';
