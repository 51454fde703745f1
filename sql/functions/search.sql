-- Search. Anyone may execute these; each function checks its caller.

create function keyed.search(template regclass, query jsonb default '{}') returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_search';
comment on function keyed.search(regclass, jsonb) is
  'Finds live records. query: {"global_search"?, "filters"?: [{"field", "operator", "value"}], "filter_groups"?, "attribute_key"?, "sort"?, "limit"?: 1 to 1000, "cursor"?, "fields"?, "verbose"?, "count"?, "time_zone"?, "facets"?}. Returns {"records", "next_cursor", "has_more", "total", "facets"?}. Error 22023 with a pointer to each fault.';

create function keyed.filter_sql(template regclass, query jsonb default '{}') returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_filter_sql';
comment on function keyed.filter_sql(regclass, jsonb) is
  'The WHERE clause that the filters of a search compile to, over the template''s table under the alias t. For reading: it does not hold the caller''s own limits.';
