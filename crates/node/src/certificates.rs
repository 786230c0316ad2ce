//! Certificates for a cluster: an authority, and a certificate for each node by its name.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Certificates cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The system says no.
    #[error("{path}: {cause}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// A file is there already.
    #[error("{path} is there already, and is not overwritten. Remove it first if the cluster is to \
             have new certificates", path = .0.display())]
    Exists(PathBuf),
    /// The contents cannot be made or read.
    #[error("{path}: {cause}", path = .path.display())]
    Contents {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: rcgen::Error,
    },
}

/// Makes an authority in a directory, `ca.pem` and `ca.key`, unless it is there; and for each of
/// these nodes a certificate and a key, `NAME.pem` and `NAME.key`.
pub fn make_certificates(directory: &Path, nodes: &[&str]) -> Result<(), CertificateError> {
    fs::create_dir_all(directory)
        .map_err(|cause| CertificateError::Io { path: directory.to_owned(), cause })?;
    let (authority, key) = (directory.join("ca.pem"), directory.join("ca.key"));
    let issuer = match authority.exists() && key.exists() {
        true => read_authority(&authority, &key)?,
        false => make_authority(&authority, &key)?,
    };
    nodes.iter().try_for_each(|node| make_node(directory, node, &issuer))
}

type Authority = Issuer<'static, KeyPair>;

fn contents(path: &Path) -> impl Fn(rcgen::Error) -> CertificateError + '_ {
    |cause| CertificateError::Contents { path: path.to_owned(), cause }
}

fn make_authority(path: &Path, key_path: &Path) -> Result<Authority, CertificateError> {
    let key = KeyPair::generate().map_err(contents(key_path))?;
    let parameters = authority_parameters();
    let certificate = parameters.self_signed(&key).map_err(contents(path))?;
    write(path, &certificate.pem(), 0o644)?;
    write(key_path, &key.serialize_pem(), 0o600)?;
    Ok(Issuer::new(parameters, key))
}

fn authority_parameters() -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, "synod cluster");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    parameters
}

/// An authority signs with its key, in its name; the name is the same for all that are made here.
fn read_authority(path: &Path, key_path: &Path) -> Result<Authority, CertificateError> {
    let read = |path: &Path| {
        fs::read_to_string(path)
            .map_err(|cause| CertificateError::Io { path: path.to_owned(), cause })
    };
    read(path)?;
    let key = KeyPair::from_pem(&read(key_path)?).map_err(contents(key_path))?;
    Ok(Issuer::new(authority_parameters(), key))
}

fn make_node(directory: &Path, node: &str, issuer: &Authority) -> Result<(), CertificateError> {
    let (path, key_path) =
        (directory.join(format!("{node}.pem")), directory.join(format!("{node}.key")));
    let key = KeyPair::generate().map_err(contents(&key_path))?;
    let mut parameters = CertificateParams::new(vec![node.to_owned()]).map_err(contents(&path))?;
    parameters.distinguished_name.push(DnType::CommonName, node);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    parameters.use_authority_key_identifier_extension = true;
    let certificate = parameters.signed_by(&key, issuer).map_err(contents(&path))?;
    write(&path, &certificate.pem(), 0o644)?;
    write(&key_path, &key.serialize_pem(), 0o600)
}

fn write(path: &Path, text: &str, mode: u32) -> Result<(), CertificateError> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => CertificateError::Exists(path.to_owned()),
        _ => CertificateError::Io { path: path.to_owned(), cause },
    })
}
