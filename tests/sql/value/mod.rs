//! Values of attributes, and names.

mod numbers;
mod slugs;
mod texts;
mod times;
