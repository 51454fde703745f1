//! Admission: authentication, and the limits of one caller.

mod admitted;
mod authorization;
mod bounds;
mod flood;
mod responses;
mod shares;
