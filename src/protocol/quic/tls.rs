//! TLS for both sides: one fixed certificate, which the client pins, and nothing that depends on
//! the calendar, so that a handshake has the same size in every run. Protects nothing: the key is
//! public (see `protocol/identity`). Knows the library as `super::proto`: quinn's and noq's are alike
//! here, and this file is compiled for each.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme, version};
use thiserror::Error;

use super::proto::crypto::rustls::{NoInitialCipherSuite, QuicClientConfig, QuicServerConfig};

#[derive(Debug, Error)]
pub enum TlsError {
    #[error(transparent)]
    Config(#[from] rustls::Error),
    #[error("it lacks the cipher suite that QUIC begins with: {0}")]
    CipherSuite(#[from] NoInitialCipherSuite),
}

/// What both sides say they speak.
pub const ALPN: &[u8] = b"impairlab";

/// The name in the certificate.
pub const SERVER_NAME: &str = "impairlab.test";

/// The server's certificate, X.509 in DER.
pub const CERTIFICATE: &[u8] = include_bytes!("../identity/ed25519-certificate.der");
const KEY: &[u8] = include_bytes!("../identity/ed25519-key.der");

pub fn client() -> Result<QuicClientConfig, TlsError> {
    let mut config = rustls::ClientConfig::builder_with_details(ciphers(), Arc::new(FixedTime))
        .with_protocol_versions(&[&version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(PinnedCertificate))
        .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(QuicClientConfig::try_from(config)?)
}

pub fn server() -> Result<QuicServerConfig, TlsError> {
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut config = rustls::ServerConfig::builder_with_details(ciphers(), Arc::new(FixedTime))
        .with_protocol_versions(&[&version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(KEY).into())?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(QuicServerConfig::try_from(config)?)
}

/// One cipher suite, the one every QUIC has and the fastest in hardware. Where `ring` asks the
/// system for randomness, the endpoint's guard answers from the seed.
fn ciphers() -> Arc<CryptoProvider> {
    let mut provider = provider::default_provider();
    provider.cipher_suites = vec![provider::cipher_suite::TLS13_AES_128_GCM_SHA256];
    Arc::new(provider)
}

/// 1 January 2030, for ever: a date the certificate is valid on, though nobody asks.
#[derive(Debug)]
struct FixedTime;

impl TimeProvider for FixedTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(1_893_456_000)))
    }
}

/// Takes [`CERTIFICATE`] and no other, whoever issued it and whatever the date.
#[derive(Debug)]
struct PinnedCertificate;

impl ServerCertVerifier for PinnedCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if end_entity.as_ref() == CERTIFICATE {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC is TLS 1.3 only".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider::default_provider().signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
