//! The layout of a stored `jsonb`: pure.

/// The bits of a header, and of an entry, that are a number.
pub(super) const NUMBER: u32 = 0x0FFF_FFFF;
/// The bit of a header that says that the container is an object.
pub(super) const IS_OBJECT: u32 = 0x2000_0000;
/// The bit of a header that says that the container is an array.
pub(super) const IS_ARRAY: u32 = 0x4000_0000;
/// The bit of a header that says that the array stands for its only element, which is not a container.
pub(super) const IS_SCALAR: u32 = 0x1000_0000;
/// The bit of an entry that says that its number is an end, not a length.
pub(super) const IS_END: u32 = 0x8000_0000;
/// The size of a header and of an entry.
pub(super) const SIZE: usize = 4;
/// One of this many entries has an end.
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
