//! A replacement for cryptography. A simulation depends on sizes, not contents: a packet grows as
//! with AES-256-GCM, the profile that str0m prefers. Hashes are constant, so that every check
//! succeeds; keys exist from the start, as if exchanged by signalling.

use std::sync::Arc;
use std::time::{Duration, Instant};

use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, KeyingMaterial,
    ProtocolVersion, SrtpProfile,
};
use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256Gcm, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError,
    CryptoProvider, Sha1HmacProvider, Sha1Provider, Sha256Provider, SrtpProvider,
    SupportedAeadAes128Gcm, SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
};

const PROFILE: SrtpProfile = SrtpProfile::AEAD_AES_256_GCM;
/// Keys and salts of both directions.
const KEYING_BYTES: usize = 2 * (AeadAes256Gcm::KEY_LEN + AeadAes256Gcm::SALT_LEN);
const TAG: [u8; AeadAes256Gcm::TAG_LEN] = [0; AeadAes256Gcm::TAG_LEN];
/// Longer than any run.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

/// The whole replacement.
#[derive(Debug)]
struct Plain;

static PLAIN: Plain = Plain;

/// The functions that str0m calls in place of a cryptography library.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        srtp_provider: &PLAIN,
        sha1_hmac_provider: &PLAIN,
        sha1_provider: &PLAIN,
        sha256_provider: &PLAIN,
        dtls_provider: &PLAIN,
    })
}

impl Sha1HmacProvider for Plain {
    fn sha1_hmac(&self, _key: &[u8], _payloads: &[&[u8]]) -> [u8; 20] {
        [0; 20]
    }
}

impl Sha1Provider for Plain {
    fn sha1(&self, _data: &[u8]) -> [u8; 20] {
        [0; 20]
    }
}

impl Sha256Provider for Plain {
    fn sha256(&self, _data: &[u8]) -> [u8; 32] {
        [0; 32]
    }
}

impl SrtpProvider for Plain {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &PLAIN
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &PLAIN
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &PLAIN
    }

    fn srtp_aes_128_ecb_round(&self, _key: &[u8], _input: &[u8], output: &mut [u8]) {
        output.fill(0);
    }

    fn srtp_aes_256_ecb_round(&self, _key: &[u8], _input: &[u8], output: &mut [u8]) {
        output.fill(0);
    }
}

impl SupportedAes128CmSha1_80 for Plain {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        unreachable!("the profile is {PROFILE:?}")
    }
}

impl SupportedAeadAes128Gcm for Plain {
    fn create_cipher(&self, _key: [u8; 16], _encrypt: bool) -> Box<dyn AeadAes128GcmCipher> {
        unreachable!("the profile is {PROFILE:?}")
    }
}

impl SupportedAeadAes256Gcm for Plain {
    fn create_cipher(&self, _key: [u8; 32], _encrypt: bool) -> Box<dyn AeadAes256GcmCipher> {
        Box::new(Plain)
    }
}

impl AeadAes256GcmCipher for Plain {
    fn encrypt(
        &mut self,
        _iv: &[u8; 12],
        _aad: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        let (content, tag) = output.split_at_mut(input.len());
        content.copy_from_slice(input);
        tag[..TAG.len()].copy_from_slice(&TAG);
        Ok(())
    }

    fn decrypt(
        &mut self,
        _iv: &[u8; 12],
        _aads: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let content = input.strip_suffix(&TAG);
        let content = content.ok_or_else(|| CryptoError::Other("no tag".to_owned()))?;
        output[..content.len()].copy_from_slice(content);
        Ok(content.len())
    }
}

impl DtlsProvider for Plain {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        Some(DtlsCert { certificate: Vec::new(), private_key: Vec::new() })
    }

    fn new_dtls(
        &self,
        _cert: &DtlsCert,
        now: Instant,
        _dtls_version: DtlsVersion,
        _mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        Ok(Box::new(Signalled { step: Step::Keys, is_active: false, never: now + CENTURY }))
    }
}

/// The keys of one end, as if exchanged by signalling.
#[derive(Debug)]
struct Signalled {
    step: Step,
    is_active: bool,
    never: Instant,
}

/// The next event to report.
#[derive(Debug)]
enum Step {
    Keys,
    Connected,
    Open,
    Closed,
}

impl DtlsInstance for Signalled {
    fn set_active(&mut self, active: bool) {
        self.is_active = active;
    }

    fn handle_packet(&mut self, _packet: &[u8]) -> Result<(), DtlsImplError> {
        Ok(())
    }

    fn poll_output<'a>(&mut self, _buf: &'a mut [u8]) -> DtlsOutput<'a> {
        match self.step {
            Step::Keys => {
                self.step = Step::Connected;
                DtlsOutput::KeyingMaterial(KeyingMaterial::new(&[0; KEYING_BYTES]), PROFILE)
            }
            Step::Connected => {
                self.step = Step::Open;
                DtlsOutput::Connected
            }
            Step::Open | Step::Closed => DtlsOutput::Timeout(self.never),
        }
    }

    fn handle_timeout(&mut self, _now: Instant) -> Result<(), DtlsImplError> {
        Ok(())
    }

    fn send_application_data(&mut self, _data: &[u8]) -> Result<usize, DtlsImplError> {
        Ok(0)
    }

    fn is_active(&self) -> bool {
        self.is_active
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        None
    }

    fn is_closed(&self) -> bool {
        matches!(self.step, Step::Closed)
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.step = Step::Closed;
        Ok(())
    }
}
