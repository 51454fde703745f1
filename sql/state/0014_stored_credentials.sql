-- What is stored of an API key or an inbound token is a hash of what is presented. Run once, as keyed_owner.
-- What was stored until now is what is presented, so every key and token goes on working.

update keyed_state.api_key
  set hash = pg_catalog.sha256(pg_catalog.convert_to('keyed.api_key:', 'UTF8') || hash);
comment on table keyed_state.api_key is 'API keys. Neither the key itself is here nor what the proxy presents for it.';
comment on column keyed_state.api_key.hash is 'SHA-256 of ''keyed.api_key:'' and what is presented, which is the SHA-256 of the whole key.';

update keyed_state.inbound_endpoint
  set token_hash = pg_catalog.sha256(pg_catalog.convert_to('keyed.inbound_token:', 'UTF8') || token_hash);
comment on table keyed_state.inbound_endpoint is 'Inbound endpoints: addresses to which other systems deliver what becomes records. Neither the token in the address is here nor what the proxy presents for it.';
comment on column keyed_state.inbound_endpoint.token_hash is 'SHA-256 of ''keyed.inbound_token:'' and what is presented, which is the SHA-256 of the token.';
