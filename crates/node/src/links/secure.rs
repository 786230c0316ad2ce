//! Connections that are encrypted, and on which both sides have shown who they are.
//!
//! Every node has a certificate for its name, by the authority of the cluster. A connection is
//! accepted only from a node whose certificate has the name that it claims; so no
//! process without a certificate, and no node in the name of another, gets a message in.

use super::frame::Broken;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

/// The files of a node's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    /// The certificate of the cluster's authority.
    pub authority: PathBuf,
    /// The certificate of the node, for its name.
    pub certificate: PathBuf,
    /// The key of that certificate.
    pub key: PathBuf,
}

/// Certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}. 'synod cert' makes certificates for a cluster", path = .path.display())]
pub struct BadCertificates {
    path: PathBuf,
    why: String,
}

/// How connections are made.
#[derive(Clone)]
pub(crate) enum Security {
    /// In plain text: on loopback, or where the operator says so.
    Plain,
    /// By TLS 1.3, with a certificate of each side.
    Mutual { connector: TlsConnector, acceptor: TlsAcceptor },
}

impl Security {
    /// Reads the files. A certificate of another name or authority is noticed here, and not when
    /// peers refuse it.
    pub(crate) fn new(
        certificates: Option<&Certificates>,
        name: &str,
    ) -> Result<Self, BadCertificates> {
        let Some(Certificates { authority, certificate, key }) = certificates else {
            return Ok(Security::Plain);
        };
        let bad = |path: &Path, why: &dyn std::fmt::Display| BadCertificates {
            path: path.to_owned(),
            why: why.to_string(),
        };
        let mut roots = RootCertStore::empty();
        for root in read_certificates(authority)? {
            roots.add(root).map_err(|error| bad(authority, &error))?;
        }
        let roots = Arc::new(roots);
        let chain = read_certificates(certificate)?;
        let Some(own) = chain.first() else {
            return Err(bad(certificate, &"it has no certificate"));
        };
        check_name(own, name)
            .map_err(|_| bad(certificate, &format!("it is not for the node '{name}'")))?;
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = &[&rustls::version::TLS13];
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone()).build();
        let verifier = verifier.map_err(|error| bad(authority, &error))?;
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)
            .and_then(|builder| {
                builder
                    .with_client_cert_verifier(verifier)
                    .with_single_cert(chain.clone(), key_der.clone_key())
            });
        let client = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .and_then(|builder| {
                builder.with_root_certificates(roots).with_client_auth_cert(chain, key_der)
            });
        Ok(Security::Mutual {
            acceptor: TlsAcceptor::from(Arc::new(server.map_err(|error| bad(key, &error))?)),
            connector: TlsConnector::from(Arc::new(client.map_err(|error| bad(key, &error))?)),
        })
    }

    /// Secures a connection to the node of this name.
    pub(super) async fn connect(&self, stream: TcpStream, name: &str) -> Result<Stream, Broken> {
        match self {
            Security::Plain => Ok(Stream::Plain(stream)),
            Security::Mutual { connector, .. } => {
                let name = ServerName::try_from(name.to_owned()).map_err(|_| Broken::Stranger)?;
                let stream = connector.connect(name, stream).await.map_err(refused)?;
                Ok(Stream::Secure(Box::new(stream.into())))
            }
        }
    }

    /// Secures a connection that another node has made.
    pub(super) async fn accept(&self, stream: TcpStream) -> Result<Stream, Broken> {
        match self {
            Security::Plain => Ok(Stream::Plain(stream)),
            Security::Mutual { acceptor, .. } => {
                let stream = acceptor.accept(stream).await.map_err(refused)?;
                Ok(Stream::Secure(Box::new(stream.into())))
            }
        }
    }
}

/// A certificate that is refused is news for the operator; a connection that breaks is not.
fn refused(error: io::Error) -> Broken {
    match error.kind() {
        io::ErrorKind::InvalidData => Broken::Refused(format!("its certificate: {error}")),
        _ => Broken::Io(error),
    }
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadCertificates> {
    let bad = |error| BadCertificates { path: path.to_owned(), why: format!("{error}") };
    CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(bad)
}

/// Whether a certificate is for a name.
fn check_name(certificate: &CertificateDer<'_>, name: &str) -> Result<(), Broken> {
    let name = ServerName::try_from(name.to_owned()).map_err(|_| Broken::Stranger)?;
    let certificate = webpki::EndEntityCert::try_from(certificate).map_err(|_| Broken::Stranger)?;
    certificate.verify_is_valid_for_subject_name(&name).map_err(|_| Broken::Stranger)
}

/// A connection to another node.
pub(super) enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Whether the other side has shown that it has this name. A plain connection shows nothing,
    /// and is believed.
    pub(super) fn is_from(&self, name: &str) -> bool {
        match self {
            Stream::Plain(_) => true,
            Stream::Secure(stream) => {
                let (_, session) = stream.get_ref();
                let shown = session.peer_certificates().and_then(<[_]>::first);
                shown.is_some_and(|certificate| check_name(certificate, name).is_ok())
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Stream::Secure(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Secure(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Secure(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Secure(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
