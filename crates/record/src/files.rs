//! A run on disk: Parquet tables, then `manifest.json`. A folder that has a manifest is complete.
//!
//! Every file is first written completely under a temporary name. Then the old manifest, if any, is
//! removed, the tables are renamed into place, and the new manifest is renamed last. It holds the
//! SHA-256 of every table; its second line is the SHA-256 of the manifest without that line.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};

use crate::rows::Run;
use crate::tables::Table;

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";

/// Writes all tables that have rows, then the manifest; removes tables of an earlier run that this
/// run does not have. Returns the names of the files.
///
/// # Errors
/// [`io::Error`] whose text names the file: the folder cannot be created or written, or the disk is
/// full. In that case, no files of this run remain, and an earlier run in the folder is unchanged.
pub fn write(
    run: &Arc<Run>,
    manifest: &serde_json::Value,
    folder: &Path,
) -> io::Result<Vec<String>> {
    write_while(run, manifest, folder, &|| true)
}

/// As [`write`], while `keep_going` returns true; it is called every few thousand rows.
///
/// # Errors
/// As [`write`]; of the kind [`io::ErrorKind::Interrupted`] if `keep_going` returned false, in
/// which case nothing of this run is left behind.
pub fn write_while(
    run: &Arc<Run>,
    manifest: &serde_json::Value,
    folder: &Path,
    keep_going: &dyn Fn() -> bool,
) -> io::Result<Vec<String>> {
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let mut pending = Pending::default();
    let (present, absent): (Vec<Table>, Vec<Table>) =
        Table::ALL.into_iter().partition(|table| table.rows(run) > 0);
    let mut sums = serde_json::Map::new();
    for table in &present {
        let path = pending.temporary_for(folder.join(file_of(*table)));
        let written = write_table(run, *table, &path, keep_going).and_then(|()| fs::read(&path));
        let content = written.map_err(|error| at(&path, error))?;
        sums.insert(file_of(*table), sha256(&content).into());
    }
    let path = pending.temporary_for(folder.join(MANIFEST));
    let text = sealed(manifest, sums)?;
    fs::write(&path, text).map_err(|error| at(&path, error))?;

    let stale = absent.into_iter().map(file_of).chain([MANIFEST.to_owned()]);
    for path in stale.map(|name| folder.join(name)) {
        remove_if_there(&path).map_err(|error| at(&path, error))?;
    }
    pending.commit()?;
    Ok(present.into_iter().map(file_of).chain([MANIFEST.to_owned()]).collect())
}

/// The manifest with the checksums of the tables and its own.
fn sealed(
    manifest: &serde_json::Value,
    sums: serde_json::Map<String, serde_json::Value>,
) -> io::Result<String> {
    let mut manifest = manifest.clone();
    manifest["files"] = sums.into();
    let text = serde_json::to_string_pretty(&manifest).map_err(io::Error::other)? + "\n";
    let line = format!("{{\n  \"checksum\": \"{}\",\n", sha256(text.as_bytes()));
    Ok(text.replacen("{\n", &line, 1))
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn file_of(table: Table) -> String {
    format!("{}.parquet", table.name())
}

fn write_table(
    run: &Arc<Run>,
    table: Table,
    path: &Path,
    keep_going: &dyn Fn() -> bool,
) -> io::Result<()> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let file = BufWriter::new(File::create(path)?);
    let mut writer = ArrowWriter::try_new(file, table.schema(), Some(properties)).map_err(as_io)?;
    for batch in table.read(Arc::clone(run)) {
        if !keep_going() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let batch = batch.map_err(io::Error::other)?;
        writer.write(&batch).map_err(as_io)?;
    }
    writer.into_inner().map_err(as_io)?.flush()
}

/// The I/O error behind a Parquet error, so that "no space left" is reported as such.
pub(crate) fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Files under temporary names. Those that are not committed are removed.
#[derive(Default)]
struct Pending {
    files: Vec<(PathBuf, PathBuf)>,
}

impl Pending {
    fn temporary_for(&mut self, path: PathBuf) -> PathBuf {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        self.files.push((temporary.clone(), path));
        temporary
    }

    fn commit(mut self) -> io::Result<()> {
        for (temporary, path) in &self.files {
            fs::rename(temporary, path).map_err(|error| at(path, error))?;
        }
        self.files.clear();
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for (temporary, _) in &self.files {
            // The file may not have been created, and an error while dropping cannot be returned.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
