//! Finds libsecequiv.so for the feature `library`. Links to it in the build folder have both names that linking and starting need, so
//! `cargo test` and `cargo run` find the library wherever it is.

use std::path::{Path, PathBuf};
use std::process::{exit, Command};
use std::{env, fs, os::unix::fs::symlink};

const ABI: u32 = 1;
const WHEEL: &str =
    "import importlib.util; print(importlib.util.find_spec('secequiv').submodule_search_locations[0], end='')";

fn output(program: &str, arguments: &[&str]) -> Option<PathBuf> {
    let done = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(done.stdout).ok()?;
    (done.status.success() && !text.trim().is_empty()).then(|| text.trim().into())
}

/// Returns the library files in a folder, or in the folders of its architectures.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let folders = std::iter::once(folder.to_path_buf()).chain(below);
    let names = [format!("libsecequiv.so.{ABI}"), "libsecequiv.so".into()];
    folders
        .flat_map(|folder| names.clone().map(|name| folder.join(name)))
        .filter(|path| path.is_file())
        .collect()
}

fn command() -> Option<PathBuf> {
    let given = env::var_os("SECEQUIV").filter(|name| !name.is_empty());
    let name = PathBuf::from(given.unwrap_or_else(|| "secequiv".into()));
    if name.components().count() > 1 {
        return name.is_file().then_some(name);
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

/// Returns the library, or a line for each place that was looked at.
fn find() -> Result<PathBuf, Vec<String>> {
    if let Some(given) = env::var_os("SECEQUIV_LIBRARY").filter(|name| !name.is_empty()) {
        let path = PathBuf::from(given);
        let missing = format!("SECEQUIV_LIBRARY: no file {}", path.display());
        return if path.is_file() { Ok(path) } else { Err(vec![missing]) };
    }
    let mut tried = vec!["SECEQUIV_LIBRARY (the path of libsecequiv.so): not set".to_owned()];
    let prefix = |path: PathBuf| path.canonicalize().ok()?.parent()?.parent().map(Path::to_path_buf);
    let beside = command().and_then(prefix);
    let package = output("pkg-config", &["--variable=libdir", "secequiv"]);
    let wheel = output("python3", &["-c", WHEEL]);
    for (what, folders) in [
        ("pkg-config secequiv", package.into_iter().collect::<Vec<_>>()),
        (
            "beside the command ($SECEQUIV, or secequiv on PATH)",
            beside
                .iter()
                .flat_map(|folder| [folder.join("lib"), folder.join("lib64")])
                .collect(),
        ),
        ("the Python package secequiv of python3", wheel.into_iter().collect()),
    ] {
        if let Some(found) = folders.iter().flat_map(|folder| libraries(folder)).next() {
            return Ok(found);
        }
        let looked: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let nothing = if looked.is_empty() {
            "not found".into()
        } else {
            format!("no library in {}", looked.join(", "))
        };
        tried.push(format!("{what}: {nothing}"));
    }
    Err(tried)
}

fn main() {
    for name in ["SECEQUIV_LIBRARY", "SECEQUIV", "PATH", "PKG_CONFIG_PATH", "PYTHONPATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_LIBRARY").is_none() {
        return;
    }
    let path = find().and_then(|path| {
        path.canonicalize()
            .map_err(|error| vec![format!("{}: {error}", path.display())])
    });
    let path = path.unwrap_or_else(|tried| {
        eprintln!("secequiv: found no libsecequiv.so. Install secequiv, or set SECEQUIV_LIBRARY; without the library, use default-features = false. Looked at:");
        eprintln!("  {}", tried.join("\n  "));
        exit(1);
    });
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for name in ["libsecequiv.so".to_owned(), format!("libsecequiv.so.{ABI}")] {
        let link = folder.join(name);
        let _ = fs::remove_file(&link); // a link of an earlier build
        if let Err(error) = symlink(&path, &link) {
            eprintln!("secequiv: {}: {error}", link.display());
            exit(1);
        }
    }
    println!("cargo:rerun-if-changed={}", path.display());
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=dylib=secequiv");
    println!("cargo:library={}", path.display());
}
