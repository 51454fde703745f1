//! Values of attributes, and slugs.

mod booleans;
mod numbers;
mod slugs;
mod strings;
mod times;
