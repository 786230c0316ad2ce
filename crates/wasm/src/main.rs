//! Prints the numbers as they come out natively.
#![forbid(unsafe_code)]

fn main() {
    println!("{} {}", synod_wasm::digest(), synod_wasm::states());
}
