//! Records: the reads and writes of a role.

mod corrections;
mod direct;
mod external_keys;
mod kept;
mod released_keys;
mod row_checks;
mod versions;
mod writes;
mod written_back;
