-- The payloads of deliveries that were done, for who makes room among them. Run once, as keyed_owner.

create index on keyed_state.inbound_delivery (endpoint_id, id) where status = 'done' and payload is not null;
