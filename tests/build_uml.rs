//! `scripts/build-uml` with stand-ins for what takes minutes (the download, the unpacking and the
//! compiler): who builds, who waits, and where the kernel is afterwards.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::unistd::geteuid;

/// Looks at something that is bound to happen.
const LOOKS: u32 = 3000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
const NOBODY: u32 = 65_534;

/// Whatever is looked for on the PATH, by name; `$STAND_IN` is the folder of the test.
const STAND_INS: [(&str, &str); 10] = [
    ("apt-cache", "echo '  Candidate: 6.12.1-1'"),
    (
        "apt-get",
        "case $* in *download*) echo download >>$STAND_IN/log; : >linux-source-6.12_1_all.deb;; esac",
    ),
    (
        "dpkg-deb",
        "mkdir -p $3/linux/arch/um $3/usr/src
         printf 'config HZ\\n\\tint\\n\\tdefault 100\\n' >$3/linux/arch/um/Kconfig
         tar -cf $3/usr/src/linux-source-6.12.tar.xz -C $3 linux",
    ),
    (
        "make",
        "cd $2
         case $* in
         *allnoconfig*)
             sed -n 's/.*default \\([0-9]*\\)/CONFIG_HZ=\\1/p' arch/um/Kconfig >.config
             grep -E '^CONFIG_.*=(y|\")' $HOUSE/uml/kernel.config >>.config;;
         *)
             while [ ! -e $STAND_IN/go ]; do sleep 0.02; done
             printf '#!/bin/sh\\necho netem: version 1.3; echo an hour has passed\\n' >linux
             chmod 755 linux;;
         esac",
    ),
    ("strip", "cp $4 $3"),
    ("gcc", "while [ $1 != -o ]; do shift; done; : >$2"),
    ("flex", ":"),
    ("bison", ":"),
    ("bc", ":"),
    ("xz", ":"),
];

struct Place {
    folder: tempfile::TempDir,
    /// Who runs the script; `None`: who runs the test.
    user: Option<u32>,
}

impl Place {
    fn new(user: Option<u32>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "home", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for (name, script) in STAND_INS {
            let path = folder.path().join("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\nset -e\n{script}\n")).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        if let Some(user) = user {
            fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
            for name in ["", "home", "tmp"] {
                chown(folder.path().join(name), Some(user), Some(user)).unwrap();
            }
        }
        Self { folder, user }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The script in this place, without a trace of what surrounds the test.
    fn command(&self) -> Command {
        let house = env!("CARGO_MANIFEST_DIR");
        let mut command = match self.user {
            None => Command::new("bash"),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={user}")).arg(format!("--regid={user}"));
                command.args(["--clear-groups", "bash"]);
                command
            }
        };
        command.arg(format!("{house}/scripts/build-uml")).env_clear().env("HOUSE", house);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command.env("STAND_IN", self.folder.path()).env("TMPDIR", self.path("tmp"));
        command.env("HOME", self.path("home")).stderr(Stdio::piped());
        command
    }

    fn cache(&self) -> PathBuf {
        self.path("home/.cache/impairlab/uml")
    }

    fn downloads(&self) -> usize {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().count()
    }

    fn go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }
}

fn wait_until(mut it_is_so: impl FnMut() -> bool) {
    assert!(
        (0..LOOKS).any(|_| it_is_so() || {
            sleep(BETWEEN_LOOKS);
            false
        }),
        "it never was"
    );
}

/// What it said until it ended well.
fn said(mut child: Child) -> String {
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}: {said}");
    said
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn of_two_at_once_one_builds_and_the_other_waits_and_finds_it() {
    let place = Place::new(None);
    let first = place.command().spawn().unwrap();
    wait_until(|| place.downloads() == 1);
    let mut second = place.command().spawn().unwrap();
    let mut waiting = vec![0; "Another build is running; waiting for it".len()];
    second.stderr.as_mut().unwrap().read_exact(&mut waiting).unwrap();
    assert_eq!(String::from_utf8_lossy(&waiting), "Another build is running; waiting for it");
    assert!(!place.cache().join("current").exists(), "nothing is there before it is whole");
    place.go();
    assert!(said(first).contains("Done: "));
    assert!(said(second).contains("The kernel is there: "));
    assert_eq!(place.downloads(), 1);
    let current = fs::read_link(place.cache().join("current")).unwrap();
    assert_eq!(names(&place.cache()), [&current.to_string_lossy(), "current", "lock"]);
    assert_eq!(names(&place.cache().join(current)), ["kernel.config", "linux", "seeder.so"]);
    assert_eq!(names(&place.path("tmp")), Vec::<String>::new());
}

#[test]
fn what_a_killed_build_left_is_taken_away_by_the_next() {
    let place = Place::new(None);
    let part = place.cache().join(".part.abandoned");
    fs::create_dir_all(&part).unwrap();
    place.go();
    said(place.command().spawn().unwrap());
    assert!(!part.exists());
}

#[test]
fn an_ordinary_user_builds_it_at_home_or_is_told_why_not() {
    let user = geteuid().is_root().then_some(NOBODY);
    let place = Place::new(user);
    place.go();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/build-uml");
    let readable = place.command().env_remove("HOME").output().unwrap();
    let answer = String::from_utf8_lossy(&readable.stderr).into_owned();
    if answer.contains("No such file") || answer.contains("Permission denied") {
        return eprintln!("skipped: another user cannot read {}", script.display());
    }
    assert!(answer.contains("Neither HOME nor XDG_CACHE_HOME"), "{answer}");
    assert!(said(place.command().spawn().unwrap()).contains("Done: "));
    assert!(place.cache().join("current/linux").exists());

    let locked = place.command().env("XDG_CACHE_HOME", "/proc").output().unwrap();
    let answer = String::from_utf8_lossy(&locked.stderr).into_owned();
    assert!(!locked.status.success());
    assert!(answer.contains("cannot write: set XDG_CACHE_HOME to another folder"), "{answer}");
}
