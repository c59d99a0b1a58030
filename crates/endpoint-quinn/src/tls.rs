//! TLS with messages of fixed length and a stopped clock.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, ServerConfig};
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;

/// The name of the server.
pub(crate) const SERVER: &str = "sojourn";

/// A certificate of 280 bytes for [`SERVER`], signed with [`SECRET`], valid from 2026-11-29 for a
/// hundred years.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIIBFDCBx6ADAgECAgEBMAUGAytlcDASMRAwDgYDVQQDDAdzb2pvdXJuMCAXDTI2
MTEyOTA0MDYyM1oYDzIxMjYxMTA1MDQwNjIzWjASMRAwDgYDVQQDDAdzb2pvdXJu
MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjQDA+
MBIGA1UdEQQLMAmCB3Nvam91cm4wCQYDVR0TBAIwADAdBgNVHQ4EFgQUTF7OQCOg
NB7irP/MTRcVSoVPAuUwBQYDK2VwA0EAMYRDcFJTKT4g64MoWcE06jI5F5/qDHq2
Xq0dG0JLLvuguvlJFK965I6KSSThJXIIJHKdCOlpGqwAB+QDRDxABQ==
-----END CERTIFICATE-----";
/// The beginning of an Ed25519 key in PKCS #8 (RFC 8410 §7), and the key, which is not secret.
const KEY_HEADER: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const KEY: [u8; 32] = [7; 32];
/// The time at which the certificate is judged, in seconds since 1970: 2027-01-01.
const NOW_S: u64 = 1_798_761_600;

#[derive(Debug)]
struct Standing;

impl TimeProvider for Standing {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(NOW_S)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).expect("the certificate is well-formed")
}

/// The settings of a client that trusts the certificate.
pub(crate) fn client() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()).expect("the certificate can be trusted");
    let tls = rustls::ClientConfig::builder_with_details(provider(), Arc::new(Standing))
        .with_protocol_versions(&[&TLS13])
        .expect("ring has TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tls = QuicClientConfig::try_from(tls).expect("ring has the cipher of QUIC");
    ClientConfig::new(Arc::new(tls))
}

/// The settings of the server.
pub(crate) fn server() -> ServerConfig {
    let key = PrivatePkcs8KeyDer::from([&KEY_HEADER[..], &KEY].concat());
    let mut tls = rustls::ServerConfig::builder_with_details(provider(), Arc::new(Standing))
        .with_protocol_versions(&[&TLS13])
        .expect("ring has TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate()], PrivateKeyDer::from(key))
        .expect("the key is that of the certificate");
    tls.send_tls13_tickets = 0;
    let tls = QuicServerConfig::try_from(tls).expect("ring has the cipher of QUIC");
    ServerConfig::with_crypto(Arc::new(tls))
}
