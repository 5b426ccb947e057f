//! Shows the pause image; with the argument `tar` writes it out:
//! `cargo run -p lighterman-images --example pause_image -- tar | docker load`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{
    env,
    io::{self, Write},
};

fn main() -> io::Result<()> {
    let image = lighterman_images::pause_image();
    if env::args().nth(1).as_deref() == Some("tar") {
        return io::stdout().write_all(image.bytes());
    }
    println!("{} is {}, {} bytes", image.reference(), image.image_id(), image.bytes().len());
    Ok(())
}
