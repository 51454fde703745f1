-- Requests that are run once, however often they are sent. keyed-proxy asks in one statement:
--   select case when s.answer is null then keyed_http.store_answer(key, fingerprint, keyed_http.…) else s.answer end
--   from keyed.authenticate(…) a (ok), keyed_http.stored_answer(a.ok, key, fingerprint) s (answer)

create function keyed_http.stored_answer(authenticated boolean, idempotency_key text, fingerprint bytea) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_stored_answer';
comment on function keyed_http.stored_answer(boolean, text, bytea) is
  'The answer that this API key''s request of this Idempotency-Key got within the last day; null when it got none, and then no other transaction runs the request before this one ends. authenticated: what keyed.authenticate answered, so that it comes first. Errors: 55006 while another transaction runs the request, 22023 when the Idempotency-Key came with another request, 53400 when the answers of the API key take as much room as keyed.idempotency_room allows, 28000 without an API key.';

create function keyed_http.store_answer(idempotency_key text, fingerprint bytea, answer text[]) returns text[]
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_store_answer';
comment on function keyed_http.store_answer(text, bytea, text[]) is
  'Keeps the answer to a request for a day and gives it back. Error 40001 when the request was run by another transaction that this one does not see.';

create function keyed_http.forget_expired_answers() returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_http_forget_expired_answers';
comment on function keyed_http.forget_expired_answers() is
  'Removes up to 1000 answers that are older than a day, and returns how many. keyed-proxy calls it every minute.';

create function keyed.purge_idempotency_keys(older_than interval default '24 hours') returns bigint
  language c volatile as 'MODULE_PATHNAME', 'keyed_purge_idempotency_keys';
comment on function keyed.purge_idempotency_keys(interval) is
  'Forgets the answers to requests with an Idempotency-Key that are older, and returns how many. Writers of later requests do so a few at a time, after a day; this is for who wants it done sooner. Needs keyed_admin.';
