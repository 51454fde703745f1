//! What a session keeps of templates.

mod sessions;
