-- How an index finds parts of texts and the beginnings of their words, in documents as keyed.search keeps them.

create function keyed.trigrams_of_document(document text, number internal) returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_of_document';
comment on function keyed.trigrams_of_document(text, internal) is
  'The keys of a document in its index, as GIN asks for them (extractValue).';

create function keyed.trigrams_of_pattern(pattern text, number internal, strategy smallint, partial internal, extra internal, nulls internal, mode internal)
  returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_of_pattern';
comment on function keyed.trigrams_of_pattern(text, internal, smallint, internal, internal, internal, internal) is
  'Keys that all documents have which are LIKE the pattern, at most some 256 of them, as GIN asks for them (extractQuery).';

create function keyed.trigrams_match(answers internal, strategy smallint, pattern text, number integer, extra internal, keys internal, nulls internal)
  returns "char"
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_match';
comment on function keyed.trigrams_match(internal, smallint, text, integer, internal, internal, internal) is
  'Whether a document may be LIKE a pattern, by the keys that it has (triConsistent).';

-- The numbers of the operators are those of gin_trgm_ops.
create operator class keyed.document_trigrams for type text using gin as
  operator 3 pg_catalog.~~ (text, text),
  operator 4 pg_catalog.~~* (text, text),
  function 1 pg_catalog.btint4cmp (integer, integer),
  function 2 keyed.trigrams_of_document (text, internal),
  function 3 keyed.trigrams_of_pattern (text, internal, smallint, internal, internal, internal, internal),
  function 6 keyed.trigrams_match (internal, smallint, text, integer, internal, internal, internal),
  storage integer;
comment on operator class keyed.document_trigrams using gin is
  'Three characters in a row and the beginnings of words, for LIKE, and in the collation "C" for ILIKE. Of two letters between which a sign stands there is a key as well, so that a part number is found by a piece of it.';
