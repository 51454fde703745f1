-- GIN operator classes for substrings and word prefixes in the documents of keyed.search.

create function keyed.trigrams_of_document(document text, number internal) returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_of_document';
comment on function keyed.trigrams_of_document(text, internal) is
  'The keys of a document in its index (GIN extractValue).';

create function keyed.trigrams_of_pattern(pattern text, number internal, strategy smallint, partial internal, extra internal, nulls internal, mode internal)
  returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_of_pattern';
comment on function keyed.trigrams_of_pattern(text, internal, smallint, internal, internal, internal, internal) is
  'The keys that every document LIKE the pattern has, at most about 256 (GIN extractQuery).';

create function keyed.trigrams_match(answers internal, strategy smallint, pattern text, number integer, extra internal, keys internal, nulls internal)
  returns "char"
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_trigrams_match';
comment on function keyed.trigrams_match(internal, smallint, text, integer, internal, internal, internal) is
  'Whether a document with these keys can be LIKE the pattern (GIN triConsistent).';

-- The strategy numbers are those of gin_trgm_ops.
create operator class keyed.document_trigrams for type text using gin as
  operator 3 pg_catalog.~~ (text, text),
  operator 4 pg_catalog.~~* (text, text),
  function 1 pg_catalog.btint4cmp (integer, integer),
  function 2 keyed.trigrams_of_document (text, internal),
  function 3 keyed.trigrams_of_pattern (text, internal, smallint, internal, internal, internal, internal),
  function 6 keyed.trigrams_match (internal, smallint, text, integer, internal, internal, internal),
  storage integer;
comment on operator class keyed.document_trigrams using gin is
  'Trigrams and prefixes of words, for LIKE, and in the collation "C" for ILIKE. Two letters separated by punctuation are also a key, so that a substring finds part numbers.';

-- The same with keys for words of display terms. New indexes use it.
create function keyed.words_of_document(document text, number internal) returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_words_of_document';
comment on function keyed.words_of_document(text, internal) is
  'The keys of a document in its index (GIN extractValue).';

create function keyed.words_of_pattern(pattern text, number internal, strategy smallint, partial internal, extra internal, nulls internal, mode internal)
  returns internal
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_words_of_pattern';
comment on function keyed.words_of_pattern(text, internal, smallint, internal, internal, internal, internal) is
  'The keys that every document LIKE the pattern has, at most about 256; or of a word in a name, one of which a document has (GIN extractQuery).';

create function keyed.words_match(answers internal, strategy smallint, pattern text, number integer, extra internal, keys internal, nulls internal)
  returns "char"
  language c immutable strict parallel safe as 'MODULE_PATHNAME', 'keyed_words_match';
comment on function keyed.words_match(internal, smallint, text, integer, internal, internal, internal) is
  'Whether a document with these keys can be LIKE the pattern, or have the word in its name (GIN triConsistent).';

-- Searches look up words of display terms by a strategy number without an operator.
create operator class keyed.document_words for type text using gin as
  operator 3 pg_catalog.~~ (text, text),
  operator 4 pg_catalog.~~* (text, text),
  function 1 pg_catalog.btint4cmp (integer, integer),
  function 2 keyed.words_of_document (text, internal),
  function 3 keyed.words_of_pattern (text, internal, smallint, internal, internal, internal, internal),
  function 6 keyed.words_match (internal, smallint, text, integer, internal, internal, internal),
  storage integer;
comment on operator class keyed.document_words using gin is
  'The keys of keyed.document_trigrams, and one for each word of a name, by which keyed.search finds a frequent word that is rare in names.';
