//! The layout of a stored `jsonb`. Pure.

/// The bits of a header or an entry that contain a number.
pub(super) const NUMBER: u32 = 0x0FFF_FFFF;
/// The header bit of an object.
pub(super) const IS_OBJECT: u32 = 0x2000_0000;
/// The header bit of an array.
pub(super) const IS_ARRAY: u32 = 0x4000_0000;
/// The header bit of a scalar, which is stored as an array with one element.
pub(super) const IS_SCALAR: u32 = 0x1000_0000;
/// The bit of an entry whose number is an end offset instead of a length.
pub(super) const IS_END: u32 = 0x8000_0000;
/// The size of a header and of an entry.
pub(super) const SIZE: usize = 4;
/// Every 32nd entry has an end offset.
pub(super) const STRIDE: usize = 32;

/// The types of entries.
pub(super) const STRING: u32 = 0x0000_0000;
pub(super) const NUMERIC: u32 = 0x1000_0000;
pub(super) const FALSE: u32 = 0x2000_0000;
pub(super) const TRUE: u32 = 0x3000_0000;
pub(super) const NULL: u32 = 0x4000_0000;
pub(super) const CONTAINER: u32 = 0x5000_0000;

/// The size of the header of a variable-length value, which precedes the content.
pub(super) const VARLENA_HEADER: usize = 4;

/// The header of a variable-length value of this size, including the header.
pub(super) fn varlena_header(size: usize) -> [u8; VARLENA_HEADER] {
    let size = size as u32;
    let header = if cfg!(target_endian = "big") { size } else { size << 2 };
    header.to_ne_bytes()
}
