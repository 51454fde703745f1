-- Which types of attributes there are is what the extension knows: it writes no other. Run once, as keyed_owner.

alter table keyed_state.attribute drop constraint attribute_type_check;
