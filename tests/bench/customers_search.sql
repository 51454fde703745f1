-- The indexes of the peers that find words, made when the rows are in. As many entries may wait as in ours.

create index on plain.customers_text using gin (document gin_trgm_ops) with (gin_pending_list_limit = 1024);

-- The same search, as far as one table can have it. COPY has PostgreSQL's default limit of the pending list, which is
-- best for it.
create index on plain.searched
  using gin (lower(coalesce(external_key, '') || ' ' || coalesce(name, '') || ' ' || coalesce(email, '') || ' '
    || coalesce(city, '')) gin_trgm_ops);
create index on rest.customers
  using gin (lower(coalesce(name, '') || ' ' || coalesce(email, '') || ' ' || coalesce(city, '')) gin_trgm_ops)
  with (gin_pending_list_limit = 1024);
