//! The environment of a host's programs: namespaces for network, mounts and host name, and a folder
//! in memory that holds everything they write.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statvfs::statvfs;

use crate::linux::hosts::Hosts;
use crate::linux::sys;
use crate::plan::{
    HostSide, Netns, ProgramHost, ProgramsPlan, WORKING_FOLDER, host_interface, host_netns,
};

/// The folders of all hosts; programs see theirs as `/tmp` and cannot see this one.
const FOLDERS: &str = "/run/hosts";
const HOME: &str = "/tmp/home";
const NONE: Option<&str> = None;
/// Lets OpenSSL, BoringSSL and AWS-LC draw from the guest's seeded random numbers alone: without
/// RDRAND and RDSEED, which give others in each run. OpenSSL's OPENSSL_ia32cap(3) has the format.
const NO_RANDOM_INSTRUCTIONS: &str = "~0x4000000000000000:~0x40000";
/// Programs run as root in the guest. Servers expect other users to exist: these have the numbers
/// of Debian's base-passwd.
const USERS: [(&str, u32); 6] =
    [("root", 0), ("daemon", 1), ("mail", 8), ("proxy", 13), ("www-data", 33), ("nobody", 65534)];
/// Users of Debian's packages of servers, and `nginx`.
const OF_SERVERS: &str = "sshd tcpdump postgres _chrony bind dnsmasq dovecot dovenull etcd \
                          freerad ftp haproxy irc memcache mosquitto mysql nats nginx ntpsec \
                          openldap prosody rabbitmq redis turnserver unbound varnish";
const FIRST_OF_SERVERS: u32 = 100;
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files\nservices: files\n";

/// The namespaces to which the first process returns.
pub(super) struct HomePlace {
    mounts: File,
    name: File,
}

/// A host.
pub(super) struct HostPlace {
    pub(super) netns: File,
    mounts: File,
    name: File,
    /// Its folder in the mounts of the first process.
    folder: PathBuf,
    /// Where its programs start, in their mounts.
    pub(super) working_folder: String,
}

impl HomePlace {
    /// Opens the current namespaces, with the devices that programs expect.
    pub(super) fn open() -> io::Result<HomePlace> {
        for (kind, place) in [("devpts", "/dev/pts"), ("tmpfs", "/dev/shm")] {
            fs::create_dir_all(place)?;
            mount(Some(kind), place, Some(kind), MsFlags::empty(), NONE)?;
        }
        for (number, name) in ["stdin", "stdout", "stderr"].iter().enumerate() {
            link(&format!("/proc/self/fd/{number}"), format!("/dev/{name}"))?;
        }
        link("/proc/self/fd", "/dev/fd")?;
        let (mounts, name) = (File::open("/proc/self/ns/mnt")?, File::open("/proc/self/ns/uts")?);
        Ok(HomePlace { mounts, name })
    }

    fn enter(&self) -> io::Result<()> {
        enter(&self.mounts, &self.name)
    }
}

fn enter(mounts: &File, name: &File) -> io::Result<()> {
    setns(mounts, CloneFlags::CLONE_NEWNS)?;
    setns(name, CloneFlags::CLONE_NEWUTS)?;
    Ok(())
}

fn link(to: &str, at: impl AsRef<Path>) -> io::Result<()> {
    match std::os::unix::fs::symlink(to, at) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

impl HostPlace {
    /// Creates the namespaces and the folder of a host.
    pub(super) fn open(
        plan: &ProgramsPlan,
        index: usize,
        hosts: &Hosts,
        home: &HomePlace,
    ) -> io::Result<HostPlace> {
        let (host, wish) = (&plan.hosts[index], &plan.wish.hosts[index]);
        let folder = PathBuf::from(FOLDERS).join(&host.name);
        fs::create_dir_all(&folder)?;
        let options = format!("size={},mode=755", plan.wish.folder_bytes);
        let none = MsFlags::empty();
        mount(Some("tmpfs"), &folder, Some("tmpfs"), none, Some(options.as_str()))?;
        for part in PARTS {
            fs::create_dir_all(folder.join(part))?;
        }
        for part in OF_ALL {
            fs::set_permissions(folder.join(part), Permissions::from_mode(0o1777))?;
        }
        link("/run", folder.join("var/run"))?;
        for (name, text) in files(plan, index) {
            fs::write(folder.join(FILES).join(name), text)?;
            File::create(folder.join("etc").join(name))?;
        }
        let netns = hosts.add(&host_netns(&host.name))?;
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS)?;
        let furnished =
            hosts.within_added(&netns, || furnish(&folder, &host.name, &plan.wish.visible));
        let (mounts, name) = (File::open("/proc/self/ns/mnt")?, File::open("/proc/self/ns/uts")?);
        home.enter()?;
        furnished?;
        let working_folder = wish.folder.clone().unwrap_or_else(|| WORKING_FOLDER.to_owned());
        Ok(HostPlace { netns, mounts, name, folder, working_folder })
    }

    /// Sets up its interface.
    pub(super) fn set_up(&self, host: &ProgramHost, hosts: &Hosts) -> io::Result<()> {
        hosts.within_added(&self.netns, || {
            for (path, value) in &host.settings {
                let path = format!("/proc/sys/{path}");
                fs::write(&path, value).map_err(|e| io::Error::other(format!("{path}: {e}")))?;
            }
            // IPv6 within the host, if the kernel supports IPv6.
            let _ = fs::write("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "0");
            let mut ip = Command::new("ip")
                .args(["-batch", "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?;
            let lines = host.lines.join("\n") + "\n";
            ip.stdin.take().expect("it is piped").write_all(lines.as_bytes())?;
            let output = ip.wait_with_output()?;
            if output.status.success() {
                return Ok(());
            }
            let message = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
            Err(io::Error::other(format!("ip: {}", message.trim())))
        })
    }

    /// Switches off the offloads of its interface and of the one in front of it.
    pub(super) fn switch_off_offloads(
        &self,
        index: usize,
        side: HostSide,
        hosts: &Hosts,
    ) -> io::Result<Vec<&'static str>> {
        let netns = match side {
            HostSide::Server => Netns::Senders,
            HostSide::Client => Netns::Receivers,
        };
        let mut on = hosts.within(netns, || sys::switch_off_offloads(&host_interface(index)))?;
        on.extend(hosts.within_added(&self.netns, || sys::switch_off_offloads("eth0"))?);
        Ok(on)
    }

    /// Calls `act`, which starts a program, on this host.
    pub(super) fn within<T>(
        &self,
        hosts: &Hosts,
        home: &HomePlace,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        hosts.within_added(&self.netns, || {
            enter(&self.mounts, &self.name)?;
            let result = act();
            home.enter()?;
            result
        })
    }

    /// The environment of its programs, without the path.
    pub(super) fn environment(&self) -> [(&'static str, &'static str); 7] {
        [
            ("HOME", HOME),
            ("TMPDIR", "/tmp"),
            ("USER", "root"),
            ("SHELL", "/bin/sh"),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("OPENSSL_ia32cap", NO_RANDOM_INSTRUCTIONS),
        ]
    }

    /// The file of an output of a command.
    pub(super) fn output(&self, command: usize, kind: &str) -> PathBuf {
        self.folder.join("out").join(format!("{command}.{kind}"))
    }

    /// Whether its folder has no room left.
    pub(super) fn is_full(&self) -> io::Result<bool> {
        Ok(statvfs(&self.folder)?.blocks_available() == 0)
    }
}

/// The private files of a host below `/etc`.
fn files(plan: &ProgramsPlan, index: usize) -> [(&'static str, String); 8] {
    let mut hosts = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for host in &plan.hosts {
        let [a, b, c, d] = host.address;
        hosts += &format!("{a}.{b}.{c}.{d} {}\n", host.name);
    }
    let (passwd, group) = users();
    [
        ("hosts", hosts),
        ("hostname", format!("{}\n", plan.hosts[index].name)),
        ("resolv.conf", String::new()),
        // Servers with TCP wrappers refuse every client if they cannot read the machine's copy of
        // this file.
        ("hosts.allow", String::new()),
        ("hosts.deny", String::new()),
        ("nsswitch.conf", NSSWITCH.to_owned()),
        ("passwd", passwd),
        ("group", group),
    ]
}

/// The texts of `/etc/passwd` and `/etc/group`: each user has a group of its own.
fn users() -> (String, String) {
    let of_servers = OF_SERVERS.split(' ').zip(FIRST_OF_SERVERS..);
    let (mut passwd, mut group) = (String::new(), "nogroup:x:65534:\n".to_owned());
    for (name, id) in USERS.into_iter().chain(of_servers) {
        let home = if id == 0 { HOME } else { "/" };
        passwd += &format!("{name}:x:{id}:{id}::{home}:/bin/sh\n");
        group += &format!("{name}:x:{id}:\n");
    }
    (passwd, group)
}

/// The private folders of a host, by their names in its folder. Mounted in this order: the host's
/// own folder lies below the last of them. Programs find no other file there than those they may
/// read: many end if a setting's file exists but cannot be opened.
const OWN: [(&str, &str); 6] = [
    ("/etc", "etc"),
    ("/var", "var"),
    ("/tmp", "tmp"),
    ("/var/tmp", "tmp"),
    ("/dev/shm", "shm"),
    ("/run", "run"),
];
/// Where its private files of `/etc` are before they are mounted there.
const FILES: &str = "files";
/// What a host's folder contains; daemons expect the folders below `/var`.
const PARTS: [&str; 13] = [
    "etc",
    FILES,
    "out",
    "run",
    "shm",
    "tmp/own",
    "tmp/home",
    "var/cache",
    "var/lib",
    "var/lock",
    "var/log",
    "var/spool",
    "var/tmp",
];

/// Of these, the folders in which every user may write.
const OF_ALL: [&str; 2] = ["shm", "tmp"];

/// Mounts a host's private files and sets its name, in the current namespaces of this process.
fn furnish(folder: &Path, name: &str, visible: &[String]) -> io::Result<()> {
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE)?;
    // Visible paths appear even below the private folders.
    for path in visible.iter().map(Path::new).filter(|path| path.exists()) {
        let within = |(own, inside)| Some(folder.join(inside).join(path.strip_prefix(own).ok()?));
        if let Some(at) = OWN.into_iter().rev().find_map(within) {
            show(path, &at)?;
        }
    }
    for entry in fs::read_dir(folder.join(FILES))? {
        let entry = entry?;
        bind(&entry.path(), &folder.join("etc").join(entry.file_name()))?;
    }
    for (own, inside) in OWN {
        bind(&folder.join(inside), Path::new(own))?;
    }
    // sysfs shows the interfaces of the namespace in which it was mounted.
    mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), NONE)?;
    fs::write("/proc/sys/kernel/hostname", name)
}

/// Mounts a file or folder at a path, which need not exist.
fn show(path: &Path, at: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => fs::create_dir_all(at)?,
        false => {
            fs::create_dir_all(at.parent().expect("it is below a folder"))?;
            File::create(at)?;
        }
    }
    bind(path, at)
}

/// Bind-mounts a file or folder, with everything mounted below it. Does nothing if the target does
/// not exist: programs of a machine without it do not need it.
fn bind(from: &Path, to: &Path) -> io::Result<()> {
    if !to.exists() {
        return Ok(());
    }
    Ok(mount(Some(from), to, NONE, MsFlags::MS_BIND | MsFlags::MS_REC, NONE)?)
}
