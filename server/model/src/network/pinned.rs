//! Certificates that are trusted as they are: a server's own, which nobody else has signed.
//!
//! Such a certificate is often none that a verifier takes for a server's, or for an authority's: it says that it is
//! an authority, or not what it is for. One that stands in the user's own file is compared byte for byte, and its
//! name and time are looked at all the same. That the server has the key to it is the handshake's business, as ever.

use rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_cert_signed_by_trust_anchor, verify_server_name,
    },
    crypto::WebPkiSupportedAlgorithms,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};
use std::sync::Arc;

/// A verifier that trusts some certificates besides what another one trusts.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) others: Arc<dyn ServerCertVerifier>,
    pub(super) certificates: Vec<CertificateDer<'static>>,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.others.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        let is_pinned = || self.certificates.iter().any(|one| one == end_entity);
        if verified.is_ok() || !is_pinned() {
            return verified;
        }
        let parsed = ParsedCertificate::try_from(end_entity)?;
        check_time(&parsed, now, self.algorithms.all)?;
        verify_server_name(&parsed, server_name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.others.supported_verify_schemes()
    }
}

/// Refuses a certificate out of its time. With no authority at all each is refused; that it is for its time comes
/// before all other reasons, which are what a pinned one is excused from.
fn check_time(
    certificate: &ParsedCertificate<'_>,
    now: UnixTime,
    algorithms: &[&dyn rustls::pki_types::SignatureVerificationAlgorithm],
) -> Result<(), Error> {
    let nobody = RootCertStore::empty();
    let checked =
        verify_server_cert_signed_by_trust_anchor(certificate, &nobody, &[], now, algorithms);
    match checked {
        Err(Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. }
            | CertificateError::BadEncoding,
        )) => checked,
        _ => Ok(()),
    }
}
