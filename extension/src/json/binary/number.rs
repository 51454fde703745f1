//! The digits of a JSON number → the stored form of `numeric`. Pure.
//!
//! The short form has a header of 16 bits (sign, number of decimals, weight of the first group) and groups of four decimal
//! digits without leading and trailing zeros. Source: `src/backend/utils/adt/numeric.c` of PostgreSQL.

use super::layout::{VARLENA_HEADER, varlena_header};

/// The header bit of the short form.
const SHORT: u16 = 0x8000;
/// The header bit of a negative number.
const NEGATIVE: u16 = 0x2000;
/// The offset of the number of decimals in the header, and its maximum.
const DECIMALS_SHIFT: u32 = 7;
const MAX_DECIMALS: usize = 63;
/// The header bits of the weight, which is signed.
const WEIGHT: u16 = 0x7F;
const MAX_WEIGHT: i32 = 63;
const MIN_WEIGHT: i32 = -64;
/// The number of decimal digits of a group.
const GROUP: usize = 4;

/// Appends a number without an exponent, with the header of a variable-length value. Returns `None` if the short form cannot
/// hold it.
pub(super) fn write(out: &mut Vec<u8>, number: &str) -> Option<()> {
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let begin = out.len();
    out.resize(begin + VARLENA_HEADER + size_of::<u16>(), 0);
    let of_groups = out.len();
    let groups_of_whole = whole.len().div_ceil(GROUP);
    let mut weight = groups_of_whole as i32 - 1;
    let mut push = |group: &[u8], is_decimal: bool| {
        let mut value = group.iter().fold(0, |value, digit| value * 10 + i16::from(digit - b'0'));
        if is_decimal {
            value *= 10_i16.pow((GROUP - group.len()) as u32);
        }
        match value {
            0 if out.len() == of_groups => weight -= 1,
            _ => out.extend_from_slice(&value.to_ne_bytes()),
        }
    };
    let (first, others) = whole.as_bytes().split_at(whole.len() - (groups_of_whole - 1) * GROUP);
    push(first, false);
    others.chunks(GROUP).for_each(|group| push(group, false));
    decimals.as_bytes().chunks(GROUP).for_each(|group| push(group, true));
    while out.len() > of_groups && out.ends_with(&[0, 0]) {
        out.truncate(out.len() - size_of::<i16>());
    }
    let is_zero = out.len() == of_groups;
    if is_zero {
        weight = 0;
    }
    if decimals.len() > MAX_DECIMALS || !(MIN_WEIGHT..=MAX_WEIGHT).contains(&weight) {
        return None;
    }
    let sign = if is_negative && !is_zero { NEGATIVE } else { 0 };
    let header = SHORT | sign | ((decimals.len() as u16) << DECIMALS_SHIFT) | (weight as u16 & WEIGHT);
    out[begin + VARLENA_HEADER..of_groups].copy_from_slice(&header.to_ne_bytes());
    let size = varlena_header(out.len() - begin);
    out[begin..begin + VARLENA_HEADER].copy_from_slice(&size);
    Some(())
}
