//! A server with a thread for each connection, and a client with twelve. Run with `serve` or
//! `fetch`.

use std::io::{Read, Write, copy, sink};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        for stream in TcpListener::bind("0.0.0.0:8080").unwrap().incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut request = [0; 4];
                stream.read_exact(&mut request).unwrap();
                stream.write_all(&vec![0; 250_000]).unwrap();
            });
        }
    }
    let fetch = || {
        let mut stream = TcpStream::connect("server:8080").unwrap();
        stream.write_all(b"send").unwrap();
        copy(&mut stream, &mut sink()).unwrap();
    };
    let clients: Vec<_> = (0..12).map(|_| thread::spawn(fetch)).collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
}
