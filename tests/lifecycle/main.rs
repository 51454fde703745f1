//! Rules for the life of an installation: crash, dump, restore, upgrade.

mod changes;
mod crash;
mod deploy;
mod disconnect;
mod dump;
mod dump_of_a_part;
mod extension;
mod files;
mod jobs;
mod recovery;
mod replica;
mod replication;
mod restart;
mod shards;
mod standby;
mod transaction;
mod update;
