//! Checks the table of a loaded library; converts settings and texts to C's form.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use libloading::Library;

use crate::abi::{
    ABI, DescribeFn, EventFn, InputFn, OpenFn, OutputFn, RawSetting, RawTable, ReadFn, StatsFn,
    TimedFn, WriteFn,
};

/// The functions of a checked table.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) describe: DescribeFn,
    pub(crate) open: OpenFn,
    pub(crate) free: unsafe extern "C" fn(*mut c_void),
    pub(crate) connect: TimedFn,
    pub(crate) input: InputFn,
    pub(crate) output: OutputFn,
    pub(crate) deadline: unsafe extern "C" fn(*mut c_void) -> u64,
    pub(crate) expire: TimedFn,
    pub(crate) event: EventFn,
    pub(crate) write: WriteFn,
    pub(crate) read: ReadFn,
    pub(crate) close: TimedFn,
    pub(crate) stats: Option<StatsFn>,
}

/// The table of a library, which stays loaded until the program ends.
///
/// # Errors
/// A sentence, if it is not such a library, or is built for another version.
pub(crate) fn table(opened: &Path) -> Result<&'static RawTable, String> {
    // SAFETY: loading runs the library's initialisers; the user named the file as code to run.
    let library = unsafe { Library::new(opened) }
        .map_err(|error| format!("is not a shared library for this machine ({error})"))?;
    let library: &'static Library = Box::leak(Box::new(library));
    type Entry = unsafe extern "C" fn() -> *const RawTable;
    // SAFETY: a library with this symbol follows `sojourn_endpoint.h`.
    let entry = unsafe { library.get::<Entry>(b"sojourn_endpoint\0") }.map_err(|_| {
        "has no function sojourn_endpoint, so it is not a transport library; see sojourn_endpoint.h"
            .to_owned()
    })?;
    sojourn_law::signals::catch_silent_exit(*entry as *const c_void);
    // SAFETY: as above.
    let table = unsafe { entry() };
    if table.is_null() {
        return Err("sojourn_endpoint() returned no table".to_owned());
    }
    // SAFETY: every version of the table begins with these two words.
    let (abi, size) = unsafe { ((*table).abi, (*table).size as usize) };
    if (abi, size) != (ABI, size_of::<RawTable>()) {
        return Err(format!(
            "is built for version {abi} of sojourn_endpoint.h ({size} bytes), this is version \
             {ABI} ({} bytes); build it again",
            size_of::<RawTable>()
        ));
    }
    // SAFETY: version and size are ours, so it is a whole table, constant until the program ends.
    Ok(unsafe { &*table })
}

/// The functions, all of which are required except `stats`.
///
/// # Errors
/// A sentence about one that is missing.
pub(crate) fn functions(table: &RawTable) -> Result<Functions, String> {
    fn required<F>(function: Option<F>, name: &str) -> Result<F, String> {
        function
            .ok_or_else(|| format!("its table has no function `{name}`; see sojourn_endpoint.h"))
    }
    Ok(Functions {
        describe: required(table.describe, "describe")?,
        open: required(table.open, "open")?,
        free: required(table.free, "free")?,
        connect: required(table.connect, "connect")?,
        input: required(table.input, "input")?,
        output: required(table.output, "output")?,
        deadline: required(table.deadline, "deadline")?,
        expire: required(table.expire, "expire")?,
        event: required(table.event, "event")?,
        write: required(table.write, "write")?,
        read: required(table.read, "read")?,
        close: required(table.close, "close")?,
        stats: table.stats,
    })
}

/// Settings as C strings.
pub(crate) struct TextSettings {
    texts: Vec<(CString, CString)>,
}

impl TextSettings {
    /// # Errors
    /// A sentence, if one contains a zero byte.
    pub(crate) fn new(settings: &[(String, String)]) -> Result<TextSettings, String> {
        let text = |text: &str| {
            CString::new(text).map_err(|_| format!("setting `{text}` contains a zero byte"))
        };
        let pair = |(name, value): &(String, String)| Ok((text(name)?, text(value)?));
        Ok(TextSettings { texts: settings.iter().map(pair).collect::<Result<_, String>>()? })
    }

    /// Valid as long as these settings.
    pub(crate) fn raw(&self) -> Vec<RawSetting> {
        let raw = |(name, value): &(CString, CString)| RawSetting {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        self.texts.iter().map(raw).collect()
    }
}

/// A text of the library; `None` for a null pointer.
///
/// # Safety
/// A pointer that is not null points to a text that ends with a zero byte.
pub(crate) unsafe fn text_of(text: *const c_char) -> Result<Option<String>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    let text = text.to_str().map_err(|_| "one of its texts is not UTF-8".to_owned())?;
    Ok(Some(text.to_owned()))
}
