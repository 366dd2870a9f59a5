//! What is at the ends of kcptun's tunnel: a server that gives back what it gets, and a user that
//! sends messages through it and wants the same bytes back.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::lab::{Lab, echo_address, entrance_of};
use super::{Case, PATIENCE};

const RETRY: Duration = Duration::from_millis(20);

/// Accepts connections until it is dropped; each is served until its other end closes it.
pub struct Echo {
    end: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

pub fn echo(lab: &Lab) -> Echo {
    let listener = lab.cloud.run(|| TcpListener::bind(echo_address())).expect("it is there");
    let listener = listener.expect("the port is free");
    listener.set_nonblocking(true).expect("a socket can be");
    let end = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&end);
    let accept = move || {
        while !ended.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) => drop(thread::spawn(move || give_back(stream))),
                Err(_) => thread::sleep(RETRY),
            }
        }
    };
    Echo { end, acceptor: Some(thread::spawn(accept)) }
}

fn give_back(mut stream: TcpStream) {
    stream.set_nonblocking(false).expect("a socket can be");
    let mut buffer = [0; 16_384];
    while let Ok(len @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let _ = self.acceptor.take().map(JoinHandle::join);
    }
}

/// Sends all messages of the case through kcptun-client, each behind its length as our server wants
/// them, and reads them back.
pub fn user(lab: &Lab, case: Case) -> JoinHandle<()> {
    let talk = move || {
        let stream = connect(case);
        stream.set_read_timeout(Some(PATIENCE)).expect("not zero");
        let framed =
            |message: Vec<u8>| [&(message.len() as u32).to_le_bytes()[..], &message].concat();
        let bytes: Vec<u8> = case.messages().into_iter().flat_map(framed).collect();
        let mut writing = stream.try_clone().expect("a socket can be");
        let sent = bytes.clone();
        let writer = thread::spawn(move || writing.write_all(&sent).expect("the tunnel takes it"));
        let mut back = vec![0; bytes.len()];
        (&stream).read_exact(&mut back).expect("the tunnel gives it back");
        writer.join().expect("it did not panic");
        assert!(back == bytes, "{case:?}: other bytes came back");
    };
    lab.vehicle.spawn("user", talk).expect("a thread can be had")
}

/// The program may take a moment to listen.
fn connect(case: Case) -> TcpStream {
    let attempts = PATIENCE.as_millis() / RETRY.as_millis();
    for _ in 0..attempts {
        match TcpStream::connect(entrance_of(case.number)) {
            Ok(stream) => return stream,
            Err(_) => thread::sleep(RETRY),
        }
    }
    panic!("{case:?}: kcptun-client does not listen");
}
