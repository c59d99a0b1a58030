//! Loading a transport library from a shared library.

use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, ConfiguredStack, Endpoint, HostSettings, Peer, Stack};
use sojourn_law::elf;
use sojourn_law::signals::{self, LibraryCall};

use crate::abi::{RawHost, RawInfo, RawSetting, RawTable, carries};
use crate::connection::{LoadedEnd, fail};
use crate::described::{Described, DescribedTexts};
use crate::table::{Functions, TextSettings, functions, table, text_of};

/// Loads a transport library. It stays loaded until the program ends. `opened` is the file to load:
/// the library, or a copy that the system's loader cannot confuse with a library loaded from that
/// path earlier. `name` is the file's name in messages, `source` the name of its code in manifests.
///
/// # Errors
/// A sentence, if the file is not such a library, is built for another version, or refuses the
/// settings.
pub fn load(
    opened: &Path,
    name: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<ConfiguredStack, String> {
    let refuse = |why: String| format!("{name}: {why}");
    elf::check_whole(opened).map_err(refuse)?;
    let table = table(opened).map_err(refuse)?;
    let functions = functions(table).map_err(refuse)?;
    let stack = Loaded::new(table, functions, name, settings).map_err(refuse)?;
    let in_full = format!("{source}: {}", stack.describe());
    Ok(ConfiguredStack { in_full, stack: Arc::new(stack) })
}

/// A library with its settings.
pub(crate) struct Loaded {
    functions: Functions,
    /// The name of its file.
    file: &'static str,
    settings: Arc<TextSettings>,
    described: Described,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described.in_full)
    }
}

impl Loaded {
    fn new(
        table: &'static RawTable,
        functions: Functions,
        file: &str,
        settings: &[(String, String)],
    ) -> Result<Loaded, String> {
        signals::catch();
        let file: &'static str = Box::leak(file.to_owned().into_boxed_str());
        let settings = TextSettings::new(settings)?;
        let raw = settings.raw();
        let mut info = RawInfo {
            settings: ptr::null(),
            unrepeatable: ptr::null(),
            carries: carries::UDP_PAYLOAD,
            flags: 0,
        };
        let call = LibraryCall { file, part: "settings", at: Some(("describe", 0)) };
        // SAFETY: the lists and texts are valid during the call.
        let why = signals::within(call, || unsafe {
            (functions.describe)(raw.as_ptr(), raw.len() as u32, &raw mut info)
        });
        // SAFETY: `sojourn_endpoint.h` demands valid texts.
        let text = |text| unsafe { text_of(text) };
        if let Some(why) = text(why)? {
            return Err(why);
        }
        let texts = DescribedTexts {
            name: text(table.name)?,
            version: text(table.version)?,
            settings: text(info.settings)?,
            unrepeatable: text(info.unrepeatable)?,
        };
        let described = Described::new(texts, info.carries, info.flags)?;
        Ok(Loaded { functions, file, settings: Arc::new(settings), described })
    }
}

impl Stack for Loaded {
    fn describe(&self) -> String {
        self.described.in_full.clone()
    }

    fn carries(&self) -> Carries {
        self.described.carries
    }

    fn has_ecn(&self) -> bool {
        self.described.has_ecn
    }

    fn has_streams(&self) -> bool {
        self.described.has_streams
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        self.described.unrepeatable
    }

    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String> {
        let raw = |settings: &[RawSetting], context| RawHost {
            seed: host.seed,
            is_server: u32::from(host.role == Peer::Server),
            mtu_bytes: host.mtu,
            datagram_bytes: host.mtu - self.described.carries.header_bytes(),
            setting_count: settings.len() as u32,
            settings: settings.as_ptr(),
            context,
            fail,
        };
        let names = (self.file, host.role);
        let settings = Arc::clone(&self.settings);
        LoadedEnd::open(self.functions, names, settings, raw, now).map(|end| {
            let end: Box<dyn Endpoint> = Box::new(end);
            end
        })
    }
}
