-- Idempotent requests. keyed-proxy runs one statement:
--   select case when s.answer is null then keyed_http.store_answer(key, fingerprint, keyed_http.…) else s.answer end
--   from keyed.authenticate(…) a (ok), keyed_http.stored_answer(a.ok, key, fingerprint) s (answer)

create function keyed_http.stored_answer(authenticated boolean, idempotency_key text, fingerprint bytea) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_stored_answer';
comment on function keyed_http.stored_answer(boolean, text, bytea) is
  'The stored response to the request of this API key with this Idempotency-Key, of the last day; null if there is none, in which case no other transaction runs the request before this one ends. authenticated: the result of keyed.authenticate, so that it runs first. Errors: 55006 while another transaction runs the request, 22023 if the Idempotency-Key was used for a different request, 53400 if the stored responses of the API key exceed keyed.max_idempotency_size, 28000 without an API key.';

create function keyed_http.store_answer(idempotency_key text, fingerprint bytea, answer text[]) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_store_answer';
comment on function keyed_http.store_answer(text, bytea, text[]) is
  'Stores the response to a request for a day and returns it. Error 40001 if a transaction that is not visible to this one has run the request.';

create function keyed_http.forget_expired_answers() returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_forget_expired_answers';
comment on function keyed_http.forget_expired_answers() is
  'Deletes up to 1000 stored responses that are older than a day, and returns their number. keyed-proxy calls it every minute.';

create function keyed.purge_idempotency_keys(older_than interval default '24 hours') returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_purge_idempotency_keys';
comment on function keyed.purge_idempotency_keys(interval) is
  'Deletes the stored responses to requests with an Idempotency-Key that are older than this, and returns their number. Later requests do this anyway after a day. Needs keyed_admin.';
