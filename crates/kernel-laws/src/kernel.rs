//! The kernel's disciplines as programs: unpacked from Debian's source package, compiled unmodified
//! against the headers of `shim/`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder in which Debian's package linux-source puts the kernel.
const SOURCES: &str = "/usr/src";
/// The file that is compiled with every discipline.
const DIVISION: &str = "lib/math/reciprocal_div.c";
/// The headers taken from the kernel; all others are forwarded to the shim.
const HEADERS: [&str; 11] = [
    "linux/list.h",
    "linux/rbtree.h",
    "linux/rbtree_augmented.h",
    "linux/rbtree_types.h",
    "linux/reciprocal_div.h",
    "linux/win_minmax.h",
    "net/codel.h",
    "net/codel_impl.h",
    "net/codel_qdisc.h",
    "net/pie.h",
    "net/red.h",
];
/// The file that htb and hfsc include.
const TREES: &str = "lib/rbtree.c";
const USER_HEADER: &str = "include/uapi/linux/pkt_sched.h";
/// The compiler's language options, taken from the kernel's Makefile. With strict aliasing, the
/// lists of sch_sfq.c, whose head is a queue used as a packet, would be compiled incorrectly.
const LANGUAGE: [&str; 4] = [
    "-std=gnu11",
    "-fno-strict-aliasing",
    "-fno-strict-overflow",
    "-fno-delete-null-pointer-checks",
];

/// An unpacked kernel.
pub(crate) struct KernelSource {
    /// The version, such as 6.1.192.
    pub(crate) version: String,
    folder: PathBuf,
}

impl KernelSource {
    /// Unpacks the files that the disciplines need, from an archive or the newest installed one,
    /// unless they have been unpacked before.
    ///
    /// # Errors
    /// Returns a sentence that names the missing part.
    pub(crate) fn unpack(
        archive: Option<PathBuf>,
        into: &Path,
        laws: &[&str],
    ) -> Result<KernelSource, String> {
        let archive = archive.map_or_else(newest_archive, Ok)?;
        if Command::new("cc").arg("--version").output().is_err() {
            return Err("no C compiler `cc` is installed".to_owned());
        }
        let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let top = name.trim_end_matches(".tar.xz").to_owned();
        let folder = into.join(&top);
        let mut members = ["Makefile", DIVISION, TREES, USER_HEADER].map(str::to_owned).to_vec();
        members.extend(HEADERS.iter().map(|header| format!("include/{header}")));
        members.extend(laws.iter().map(|law| source_of(law)));
        if members.iter().any(|member| !folder.join(member).is_file()) {
            fs::create_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
            let mut tar = Command::new("tar");
            tar.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(into);
            tar.args(members.iter().map(|member| format!("{top}/{member}")));
            // If this kernel lacks a member, the compilation of its law reports it.
            tar.output().map_err(|error| format!("tar: {error}"))?;
        }
        let makefile = fs::read_to_string(folder.join("Makefile"))
            .map_err(|error| format!("{}: {error}", archive.display()))?;
        let kernel = KernelSource { version: version_of(&makefile), folder };
        kernel.forward(&members)?;
        Ok(kernel)
    }

    /// Its series as numbers.
    pub(crate) fn series(&self) -> (u32, u32) {
        series_of(&self.version)
    }

    /// Whether this kernel has the discipline.
    pub(crate) fn has(&self, law: &str) -> bool {
        self.folder.join(source_of(law)).is_file()
    }

    /// Compiles a discipline. Returns the program.
    ///
    /// # Errors
    /// The compiler's message.
    pub(crate) fn compile(&self, law: &str) -> Result<PathBuf, String> {
        let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("shim");
        let program = self.folder.join(law);
        let mut cc = Command::new("cc");
        cc.args(LANGUAGE).args(["-O2", "-w", "-I"]).arg(&shim);
        for folder in ["include", "include/uapi", "forward", ""] {
            cc.arg("-I").arg(self.folder.join(folder));
        }
        cc.arg("-o").arg(&program).arg(shim.join(format!("laws/{law}.c")));
        cc.arg(shim.join("shim.c")).arg(self.folder.join(DIVISION));
        let output = cc.output().map_err(|error| format!("cc: {error}"))?;
        match output.status.success() {
            true => Ok(program),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Feeds operations to a program and returns its output.
    ///
    /// # Errors
    /// The program's message.
    pub(crate) fn play(
        &self,
        program: &Path,
        settings: &[String],
        operations: &[u8],
    ) -> Result<Vec<u8>, String> {
        let (input, output) =
            (program.with_extension("operations"), program.with_extension("outcomes"));
        let failed = |error: std::io::Error| format!("{}: {error}", program.display());
        fs::write(&input, operations).map_err(failed)?;
        let status = Command::new(program)
            .args(settings)
            .stdin(File::open(&input).map_err(failed)?)
            .stdout(File::create(&output).map_err(failed)?)
            .status()
            .map_err(failed)?;
        if !status.success() {
            return Err(format!("{} {settings:?}: {status}", program.display()));
        }
        fs::read(&output).map_err(failed)
    }

    /// Writes a one-line header for every included header that is not taken from the kernel.
    fn forward(&self, members: &[String]) -> Result<(), String> {
        let mut included = BTreeSet::new();
        for member in members.iter().filter(|member| *member != "Makefile") {
            let text = fs::read_to_string(self.folder.join(member)).unwrap_or_default();
            let names = text.lines().filter_map(|line| line.strip_prefix("#include <"));
            included.extend(names.filter_map(|rest| Some(rest.split_once('>')?.0.to_owned())));
        }
        for name in included.iter().filter(|name| !HEADERS.contains(&name.as_str())) {
            let path = self.folder.join("forward").join(name);
            let written = fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .and_then(|()| fs::write(&path, "#include \"shim.h\"\n"));
            written.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// The series of a version, as numbers.
pub(crate) fn series_of(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn source_of(law: &str) -> String {
    format!("net/sched/sch_{law}.c")
}

fn newest_archive() -> Result<PathBuf, String> {
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("linux-source-") && name.ends_with(".tar.xz")
    };
    let entries = fs::read_dir(SOURCES).into_iter().flatten().flatten();
    let found = entries.map(|entry| entry.path()).filter(is_archive).max();
    found.ok_or_else(|| format!("Debian's package linux-source is not installed in {SOURCES}"))
}

fn version_of(makefile: &str) -> String {
    let number = |key: &str| {
        let line = makefile.lines().find_map(|line| line.strip_prefix(&format!("{key} = ")));
        line.unwrap_or("?").to_owned()
    };
    ["VERSION", "PATCHLEVEL", "SUBLEVEL"].map(number).join(".")
}
