//! Values as the text of CDL, as ncdump lays it out: numbers in C's decimal forms, lines that end where they are full.

pub mod digits;
pub mod numbers;
pub mod rows;
