-- The full-text indexes of the other contenders, created after the rows. The pending list has the limit of keyed's index.

create index on plain.customers_text using gin (document gin_trgm_ops) with (gin_pending_list_limit = 1024);

-- The same search, as far as a single table allows. The table for COPY has PostgreSQL's default limit of the pending
-- list, which is best for it.
create index on plain.searched
  using gin (lower(coalesce(external_key, '') || ' ' || coalesce(name, '') || ' ' || coalesce(email, '') || ' '
    || coalesce(city, '')) gin_trgm_ops);
create index on rest.customers
  using gin (lower(coalesce(name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(city, '')) gin_trgm_ops)
  with (gin_pending_list_limit = 1024);
