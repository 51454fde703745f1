//! Who is let in, how much one caller may send, and what it may take of the process.

mod admitted;
mod authorization;
mod bounds;
mod flood;
mod responses;
mod shares;
