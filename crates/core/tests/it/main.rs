//! What can only be tried from outside of the crate.

#[expect(unreachable_pub, reason = "the fuzz targets reach it, this binary shares the file")]
#[path = "../../../../fuzz/src/lib.rs"]
mod fuzz;
mod fuzz_seeds;
