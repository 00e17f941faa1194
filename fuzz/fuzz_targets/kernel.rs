//! All targets of the kernel in one program: `OMNIZARR_FUZZ` says which.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static RUN: OnceLock<fn(&[u8])> = OnceLock::new();

fn chosen() -> fn(&[u8]) {
    let name = std::env::var("OMNIZARR_FUZZ").unwrap_or_default();
    let Some(target) = omnizarr_fuzz::target(&name) else {
        let names: Vec<&str> = omnizarr_fuzz::targets().iter().map(|target| target.name).collect();
        eprintln!("OMNIZARR_FUZZ must be one of: {}", names.join(" "));
        std::process::exit(2);
    };
    if name == "pcodec" {
        // Its library may panic, which is caught, and is not what is looked for; what is not caught ends the program.
        std::panic::set_hook(Box::new(|_| {}));
    }
    target.run
}

fuzz_target!(|data: &[u8]| {
    RUN.get_or_init(chosen)(data);
});
