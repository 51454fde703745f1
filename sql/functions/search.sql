-- Search. PUBLIC can execute these functions; each checks its caller.

create function keyed.search(template regclass, query jsonb default '{}') returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_search';
comment on function keyed.search(regclass, jsonb) is
  'Finds live records, with "include_deleted": true deleted ones too. query: {"global_search"?, "fuzzy"?: "auto" or "off", "filters"?: [{"field", "operator", "value"}], "filter_groups"?, "attribute_key"?, "sort"?, "limit"?: 1 to 1000, "cursor"?, "fields"?, "verbose"?, "highlight"?: true or {"offsets": true}, "count"?, "time_zone"?, "facets"?, "query_vector"?, "mode"?, "view"?, "include_deleted"?}. Returns {"records", "next_cursor", "has_more", "total", "facets"?, "fuzzy"?, "did_you_mean"?}. Error 22023 with a pointer to each error.';

create function keyed.suggest(template regclass, query jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_suggest';
comment on function keyed.suggest(regclass, jsonb) is
  'Completes the last word of a typed prefix with words of the live records that are visible to the caller and have the words before it. query: {"prefix", "limit"?: 1 to 50 (10)}. Returns {"suggestions": [{"text", "count"}], "exact"}: the words of the most records first, in their most frequent spelling. If exact is false, only a sample of the records was read, and count is a minimum. Error 22023 with a pointer to each error.';

create function keyed.semantic_search(query jsonb) returns jsonb
  language c volatile as 'MODULE_PATHNAME', 'keyed_semantic_search';
comment on function keyed.semantic_search(jsonb) is
  'Finds the live records whose vectors are closest to a vector, most similar first. query: {"query_vector": 768 numbers, "template_id"?: id or project.template (default: all templates), "limit"?: 1 to 200 (10), "threshold"?: minimum similarity, 0 to 1 (0), "filters"?, "filter_groups"?, "attribute_key"?, "time_zone"?: as for keyed.search}. Returns [{"similarity_score", "entity": {"id", "template_id", "template_slug", "external_key", "attribute_values": {slug: {"value"}}}}]. Error 22023 with a pointer to each error.';

create function keyed.filter_sql(template regclass, query jsonb default '{}') returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_filter_sql';
comment on function keyed.filter_sql(regclass, jsonb) is
  'The WHERE clause of the full-text search and filters of a search, over the template''s table with the alias t. For reading only: it does not include the scopes of the caller.';

create function keyed.explain(template regclass, query jsonb default '{}') returns text
  language c stable as 'MODULE_PATHNAME', 'keyed_explain';
comment on function keyed.explain(regclass, jsonb) is
  'Explains a search: its statements, their plans, and a note if every row must be read. query: as for keyed.search. Looks up the search terms, and reads records if the next statement depends on their number; does not run the search itself. In SQL only, not over HTTP.';

create function keyed.suggest_indexes(template regclass)
  returns table (attribute text, filters bigint, sorts bigint, since timestamptz, statement text)
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
    #variable_conflict use_column
    begin
      perform keyed.require_admin('see the usage of attributes');
      return query
        select a.slug, u.filters, u.sorts, u.since,
          format('select keyed.alter_attribute(%L, %L, %L)', format('%I.%I', p.slug, t.slug), a.slug, '{"indexed": true}')
        from keyed_state.attribute a
        join keyed_state.attribute_use u on u.attribute_id = a.id
        join keyed_state.template t on t.id = a.template_id
        join keyed_state.project p on p.id = t.project_id
        where to_regclass(format('%I.%I', p.slug, t.slug)) = template
          and not a.indexed and a.type <> 'reference' and u.filters + u.sorts > 0
        order by u.filters + u.sorts desc, a.slug;
    end
  $$;
comment on function keyed.suggest_indexes(regclass) is
  'Lists the attributes that searches filter or sort by without an index, most used first, with the statement that creates each index. Sessions report their counts about every ten seconds. Needs keyed_admin.';
