//! Values of attributes, and names.

mod booleans;
mod numbers;
mod slugs;
mod texts;
mod times;
