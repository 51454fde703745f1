-- Only the login of the proxy and superusers may present credentials; only keyed_owner measures the server. Run by
-- keyed.init() and, when a superuser calls it, keyed.migrate(): the roles may be created after the extension. A dump
-- contains these grants.

grant execute on function keyed.authenticate(bytea, text, text) to keyed_proxy;
grant execute on function keyed_http.deliver(bytea, text, text, text, text) to keyed_proxy;
grant execute on function keyed_http.knows_delivery_token(bytea) to keyed_proxy;

-- What only the owner may ask, for the measurements that the proxy exports.
grant execute on function keyed.server_measurements() to keyed_owner;
