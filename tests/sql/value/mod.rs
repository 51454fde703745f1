//! Values of attributes, and slugs.

mod booleans;
mod numbers;
mod slugs;
mod texts;
mod times;
