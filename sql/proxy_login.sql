-- Only the proxy's login and superusers can authenticate API keys; only keyed_owner can read the measurements of the server. Run
-- by keyed.init(), and by keyed.migrate() if a superuser calls it, because the roles can be created after the extension. A dump
-- contains these grants.

grant execute on function keyed.authenticate(bytea, text, text) to keyed_proxy;
grant execute on function keyed_http.deliver(bytea, text, text, text, text) to keyed_proxy;
grant execute on function keyed_http.knows_delivery_token(bytea) to keyed_proxy;

-- Measurements that the proxy exports.
grant execute on function keyed.server_measurements() to keyed_owner;
