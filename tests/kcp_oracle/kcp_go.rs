//! kcp-go 5.6, the Debian package with its source: built with a small program of ours (`go/`) that
//! replays a transcript on it. Nothing of it is kept here: at test time the installed package is
//! copied to the build folder, where its clock is made virtual and its timers give way to ours.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use impairlab::protocol::kcp::Origin;
use impairlab::protocol::settings::KcpSettings;

use crate::peer::{Answer, Call, Oracle, difference};
use crate::scenario::CONV;

/// Set where the package is expected, so that its absence is a failure.
const REQUIRED: &str = "IMPAIRLAB_KCP_GO_TESTS";
const GO_PATH: &str = "/usr/share/gocode";
const PACKAGE: &str = "src/github.com/xtaci/kcp-go";

/// In the package's files: what makes its time real, and what it becomes.
const CLOCK: [(&str, &str, &str); 2] = [
    ("kcp.go", "return uint32(time.Since(refTime) / time.Millisecond)", "return uint32(virtualMs)"),
    ("sess.go", "time.Now()", "virtualNow()"),
];

/// The program; `None`, saying so, where it cannot be built and need not be.
pub fn kcp_go() -> Option<KcpGo> {
    let go = Command::new("go").arg("version").output();
    let missing = if go.is_err() {
        "no `go` on the PATH"
    } else if !Path::new(GO_PATH).join(PACKAGE).join("kcp.go").exists() {
        "no source of kcp-go below /usr/share/gocode"
    } else {
        return Some(KcpGo::start(&build()));
    };
    let advice = "apt-get install golang-go golang-github-xtaci-kcp-dev";
    assert!(std::env::var_os(REQUIRED).is_none(), "{missing}: {advice}");
    eprintln!("skipped: {missing} ({advice})");
    None
}

/// Builds what is not built yet; the path of the program. Tests build one after the other, and each
/// a program of its own.
fn build() -> PathBuf {
    static ONE_AT_A_TIME: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
    let mut number = ONE_AT_A_TIME.lock().expect("no other build has failed");
    *number += 1;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kcp-go");
    let sources = folder.join("path/src");
    let package = folder.join("path").join(PACKAGE);
    copy_package(&package).expect("the package can be copied");
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kcp_oracle/go");
    fs::create_dir_all(sources.join("oracle")).expect("a folder can be made");
    fs::copy(ours.join("main.go"), sources.join("oracle/main.go")).expect("it can be copied");
    fs::copy(ours.join("inside.go"), package.join("timedsched.go")).expect("it can be copied");

    let program = folder.join(format!("oracle-{}-{number}", std::process::id()));
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg("oracle");
    go.env("GOPATH", format!("{}:{GO_PATH}", folder.join("path").display()));
    go.env("GO111MODULE", "off").env("GOFLAGS", "").env("GOCACHE", folder.join("cache"));
    let built = go.output().expect("go starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

fn copy_package(to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(Path::new(GO_PATH).join(PACKAGE))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".go") || name.ends_with("_test.go") {
            continue;
        }
        let mut source = fs::read_to_string(Path::new(GO_PATH).join(PACKAGE).join(&name))?;
        for (_, real, made) in CLOCK.iter().filter(|(file, ..)| *file == name) {
            assert!(source.contains(real), "{name} of another version: there is no {real}");
            source = source.replace(real, made);
        }
        fs::write(to.join(name), source)?;
    }
    Ok(())
}

/// The running program.
#[derive(Clone)]
pub struct KcpGo(Rc<RefCell<Process>>);

struct Process {
    child: Child,
    program: PathBuf,
}

impl KcpGo {
    fn start(program: &Path) -> Self {
        let child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let child = child.expect("what was built starts");
        Self(Rc::new(RefCell::new(Process { child, program: program.to_owned() })))
    }

    fn replay(&self, transcript: &[u8]) -> io::Result<Vec<u8>> {
        let child = &mut self.0.borrow_mut().child;
        let input = child.stdin.as_mut().expect("piped");
        input.write_all(&(transcript.len() as u32).to_le_bytes())?;
        input.write_all(transcript)?;
        let output = child.stdout.as_mut().expect("piped");
        let mut length = [0; 4];
        output.read_exact(&mut length)?;
        let mut answers = vec![0; u32::from_le_bytes(length) as usize];
        output.read_exact(&mut answers)?;
        Ok(answers)
    }
}

impl Drop for Process {
    /// It ends when nothing more can come.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.program);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The state machine alone.
    Engine,
    /// With the session around it.
    Session,
}

/// One side. What is called is written down, and replayed at the end.
pub struct KcpGoSide {
    program: KcpGo,
    transcript: Vec<u8>,
    /// When, what, and what we answered.
    calls: Vec<(u32, &'static str, Answer)>,
    now_ms: u32,
}

impl KcpGoSide {
    pub fn new(program: &KcpGo, part: Part, settings: &KcpSettings) -> Self {
        let mut side =
            Self { program: program.clone(), transcript: Vec::new(), calls: Vec::new(), now_ms: 0 };
        side.flag(part == Part::Session);
        let numbers = [
            CONV,
            settings.nodelay.into(),
            settings.interval.as_millis() as u32,
            settings.resend,
            settings.nc.into(),
            settings.send_window,
            settings.receive_window,
            settings.mtu,
        ];
        numbers.into_iter().for_each(|number| side.word(number));
        for flag in [settings.stream, settings.ack_nodelay, settings.write_delay] {
            side.flag(flag);
        }
        side
    }

    fn flag(&mut self, flag: bool) {
        self.transcript.push(flag.into());
    }

    fn word(&mut self, word: u32) {
        self.transcript.extend_from_slice(&word.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u32);
        self.transcript.extend_from_slice(bytes);
    }

    fn write_down(&mut self, call: &Call) {
        self.transcript.push(match call {
            Call::SetClock(_) => 0,
            Call::Update(_) => 1,
            Call::Flush => 2,
            Call::Send(_) => 3,
            Call::Receive => 4,
            Call::Input(..) => 5,
            Call::Datagrams => 6,
            Call::IsDeadLink => 7,
        });
        match call {
            Call::SetClock(now_ms) => {
                self.now_ms = *now_ms;
                self.transcript.extend_from_slice(&u64::from(*now_ms).to_le_bytes());
            }
            Call::Send(message) => self.bytes(message),
            Call::Input(datagram, origin) => {
                self.flag(*origin == Origin::Arrived);
                self.bytes(datagram);
            }
            Call::Update(_) | Call::Flush | Call::Receive | Call::Datagrams | Call::IsDeadLink => {}
        }
    }
}

impl Oracle for KcpGoSide {
    fn hold(&mut self, call: &Call, ours: &Answer) -> Result<(), String> {
        self.write_down(call);
        if *ours != Answer::Done {
            self.calls.push((self.now_ms, call.name(), ours.clone()));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let answers = self.program.replay(&self.transcript).map_err(|error| error.to_string())?;
        let mut answers = Answers(&answers);
        for (now_ms, call, ours) in &self.calls {
            let theirs = answers.next(ours);
            if *ours != theirs {
                let what = difference(call, ours, &theirs);
                return Err(format!("at {now_ms} ms of the clock: {what}"));
            }
        }
        Ok(())
    }
}

struct Answers<'a>(&'a [u8]);

impl Answers<'_> {
    fn next(&mut self, like: &Answer) -> Answer {
        match like {
            Answer::Done => Answer::Done,
            Answer::Flag(_) => Answer::Flag(self.take(1)[0] == 1),
            Answer::Message(_) => Answer::Message(self.some()),
            Answer::Datagrams(_) => {
                let count = self.word();
                Answer::Datagrams((0..count).filter_map(|_| self.some()).collect())
            }
        }
    }

    fn take(&mut self, length: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn word(&mut self) -> u32 {
        let bytes = self.take(4);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    fn some(&mut self) -> Option<Vec<u8>> {
        let length = self.word();
        (length != u32::MAX).then(|| self.take(length as usize).to_vec())
    }
}
