//! Leave to ask the database.

use super::responses::ResponseBytes;
use super::shares::Share;

/// Leave to ask the database for a response. It ends when it is dropped.
pub(crate) struct Leave {
    pub(super) _share: Share,
    /// Room for the response; none for a file, which is sent in portions.
    pub(super) _response: Option<ResponseBytes>,
}
