//! Reading an archive's central directory, believing nothing that it says.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rawzip::extra_fields::ExtraFieldId;
use rawzip::{ErrorKind, ReaderAt, ZipArchive, ZipFileHeaderRecord, ZipLocator};

use super::super::check_key;
use super::entry::{Entry, Place, fault, fresh};
use super::record::{DESCRIPTOR, ENCRYPTED, LOCAL, UTF8};
use super::source::Source;
use crate::codec::crc32_after;
use crate::error::{ArchiveFault, Error, Result};

/// An entry that has no key, and is kept as it is.
pub(super) struct Other {
    pub(super) name: Vec<u8>,
    pub(super) entry: Arc<Entry>,
    /// Why it has no key.
    pub(super) reason: String,
}

/// What an archive holds.
#[derive(Default)]
pub(super) struct Directory {
    pub(super) entries: BTreeMap<String, Arc<Entry>>,
    pub(super) others: Vec<Other>,
    pub(super) comment: Vec<u8>,
}

const CUT: &str = "The archive is cut short, or its writer did not close it: copy it again, or try `zip -FF`.";

/// The most false ends that are passed over, as comments may hold them.
const FALSE_ENDS: u8 = 16;

fn corrupt(message: impl Into<String>) -> Error {
    fault("", ArchiveFault::Corrupt, message, CUT)
}

/// A source as the parser wants it; the first failure is kept, since the parser has other words for it.
struct Reader<'a> {
    source: &'a dyn Source,
    size: u64,
    failure: RefCell<Option<Error>>,
}

impl ReaderAt for &Reader<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX).min(buf.len());
        let dst = buf.get_mut(..n).unwrap_or_default();
        if n > 0
            && let Err(error) = self.source.read_at(offset, dst)
        {
            self.failure.borrow_mut().get_or_insert(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(n)
    }
}

impl Reader<'_> {
    fn explain(&self, error: &rawzip::Error) -> Error {
        match self.failure.borrow_mut().take() {
            Some(failure) => failure,
            None if matches!(error.kind(), ErrorKind::MissingEndOfCentralDirectory) => {
                corrupt("this is not a zip archive, or its end is missing")
            }
            None => corrupt(format!("the archive's directory is damaged: {error}")),
        }
    }
}

/// Find the archive's end; the last thing that looks like one may be part of a comment.
fn locate<'a>(reader: &'a Reader<'_>, buffer: &mut [u8]) -> Result<ZipArchive<&'a Reader<'a>>> {
    let mut until = reader.size;
    let mut first = None;
    for _ in 0..FALSE_ENDS {
        match ZipLocator::new().locate_in_reader(reader, buffer, until) {
            Ok(archive) => return Ok(archive),
            Err((_, error)) => {
                let at = error.eocd_offset();
                let error = reader.explain(&error);
                if matches!(error, Error::Archive { .. }) && at.is_some() {
                    first.get_or_insert(error);
                    until = at.unwrap_or(0);
                } else {
                    return Err(first.unwrap_or(error));
                }
            }
        }
    }
    Err(first.unwrap_or_else(|| corrupt("the archive's end is damaged")))
}

/// Read the directory of an archive.
pub(super) fn read(source: &Arc<dyn Source>) -> Result<Directory> {
    let size = source.size()?;
    if size == 0 {
        return Ok(Directory::default());
    }
    let reader = Reader { source: &**source, size, failure: RefCell::new(None) };
    let mut buffer = vec![0; rawzip::MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
    let archive = locate(&reader, &mut buffer)?;
    let mut found = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(record) = entries.next_entry().map_err(|error| reader.explain(&error))? {
        found.push((record.file_path().as_bytes().to_vec(), Found::new(&record)));
    }
    let claimed = archive.entries_hint();
    // Writers that know no zip64 count modulo 2¹⁶.
    if claimed != found.len() as u64 && claimed != found.len() as u64 & 0xFFFF {
        return Err(corrupt(format!("the archive's directory has {} entries and claims {claimed}", found.len())));
    }
    let ends = ends(&found, archive.directory_offset())?;
    let starts = found.iter().map(|(_, entry)| entry.header).min().unwrap_or(0);
    if starts > 0 && archive.end_offset() != size {
        return Err(corrupt("only an archive within the archive is whole"));
    }
    let mut directory = Directory { comment: comment(&archive), ..Directory::default() };
    for ((name, entry), end) in found.into_iter().zip(ends) {
        directory.add(name, entry, end, source);
    }
    Ok(directory)
}

fn comment(archive: &ZipArchive<&Reader<'_>>) -> Vec<u8> {
    let mut comment = Vec::new();
    // A comment that cannot be read is no reason to refuse the data.
    let _ = io::Read::read_to_end(&mut archive.comment(), &mut comment);
    comment
}

/// Where each entry has to end: at the next header, or where the directory begins. Overlapping ones are refused.
fn ends(found: &[(Vec<u8>, Found)], directory: u64) -> Result<Vec<u64>> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    let header = |i: &usize| found.get(*i).map_or(u64::MAX, |(_, entry)| entry.header);
    order.sort_by_key(header);
    let mut ends = vec![directory; found.len()];
    for (i, next) in order.iter().zip(order.iter().skip(1).map(Some).chain([None])) {
        let (Some((name, entry)), Some(slot)) = (found.get(*i), ends.get_mut(*i)) else { continue };
        let end = next.map_or(directory, header);
        let least = entry.header.checked_add(LOCAL).and_then(|n| n.checked_add(name.len() as u64));
        if least.and_then(|n| n.checked_add(entry.packed)).is_none_or(|last| last > end) {
            let name = String::from_utf8_lossy(name);
            return Err(corrupt(format!("the archive's entry {name:?} overlaps with what follows it")));
        }
        *slot = end;
    }
    Ok(ends)
}

/// What the directory says of an entry.
struct Found {
    header: u64,
    packed: u64,
    size: u64,
    crc: u32,
    method: u16,
    flags: u16,
    made_by: u16,
    time: u32,
    attributes: u32,
    /// Its name in UTF-8, where another field says it.
    unicode: Option<Vec<u8>>,
    extra: Box<[u8]>,
}

impl Found {
    fn new(record: &ZipFileHeaderRecord<'_>) -> Self {
        let flags = record.flags().bits();
        let (mut unicode, mut extra) = (None, Vec::new());
        for (id, data) in record.extra_fields() {
            if id == ExtraFieldId::INFO_ZIP_UNICODE_PATH
                && let [1, a, b, c, d, name @ ..] = data
                && u32::from_le_bytes([*a, *b, *c, *d]) == crc32_after(0, record.file_path().as_bytes())
            {
                unicode = Some(name.to_vec());
            }
            if flags & ENCRYPTED != 0 && id != ExtraFieldId::ZIP64 {
                extra.extend_from_slice(&id.as_u16().to_le_bytes());
                extra.extend_from_slice(&u16::try_from(data.len()).unwrap_or(u16::MAX).to_le_bytes());
                extra.extend_from_slice(data);
            }
        }
        Self {
            header: record.local_header_offset(),
            packed: record.compressed_size_hint(),
            size: record.uncompressed_size_hint(),
            crc: record.crc32(),
            method: record.compression_method().as_u16(),
            flags,
            made_by: record.version_made_by().as_u16(),
            time: time(record),
            attributes: record.external_attributes(),
            unicode,
            extra: extra.into(),
        }
    }

    fn entry(self, name: &[u8], end: u64, source: &Arc<dyn Source>) -> Arc<Entry> {
        // Only a password may depend on the sizes being written behind the data; all others get them before.
        let keep = if self.flags & ENCRYPTED == 0 { !DESCRIPTOR } else { u16::MAX };
        let name = (u16::try_from(name.len()).unwrap_or(u16::MAX), crc32_after(0, name));
        Arc::new(Entry {
            place: Place::File { source: Arc::clone(source), header: self.header, end, data: AtomicU64::new(0), name },
            method: self.method,
            flags: self.flags & keep,
            time: self.time,
            crc: self.crc,
            packed: self.packed,
            size: self.size,
            made_by: self.made_by,
            attributes: self.attributes,
            extra: self.extra,
            number: fresh(),
        })
    }
}

fn time(record: &ZipFileHeaderRecord<'_>) -> u32 {
    let dos = record.last_modified_dos();
    let clock = u32::from(dos.hour()) << 11 | u32::from(dos.minute()) << 5 | u32::from(dos.second()) >> 1;
    let day = u32::from(dos.year().saturating_sub(1980)) << 9 | u32::from(dos.month()) << 5 | u32::from(dos.day());
    day << 16 | clock
}

/// The upper half of code page 437, in which names are that say nothing else.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A name as text; without the flag for it many writers use UTF-8 all the same.
fn text(name: &[u8], flags: u16, unicode: Option<Vec<u8>>) -> std::result::Result<String, String> {
    if let Some(text) = unicode.and_then(|name| String::from_utf8(name).ok()) {
        return Ok(text);
    }
    match std::str::from_utf8(name) {
        Ok(text) => Ok(text.into()),
        Err(_) if flags & UTF8 != 0 => Err("its name is not UTF-8".into()),
        Err(_) => {
            let upper = |byte: u8| CP437.chars().nth(usize::from(byte & 0x7F)).unwrap_or('\u{FFFD}');
            Ok(name.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { upper(*byte) }).collect())
        }
    }
}

impl Directory {
    fn add(&mut self, name: Vec<u8>, mut found: Found, end: u64, source: &Arc<dyn Source>) {
        let text = text(&name, found.flags, found.unicode.take());
        if text.as_ref().is_ok_and(|text| text.ends_with('/') && found.size == 0) {
            return;
        }
        let key = text.and_then(|text| {
            let key = text.strip_prefix("./").unwrap_or(&text);
            match check_key(key) {
                Err(Error::Unsafe { message, .. }) => Err(message),
                _ if matches!(key.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) => {
                    Err("it begins with a drive letter".into())
                }
                _ => Ok(key.to_owned()),
            }
        });
        match key {
            // The last of several entries of one name is the one that counts.
            Ok(key) => drop(self.entries.insert(key, found.entry(&name, end, source))),
            Err(reason) => {
                let entry = found.entry(&name, end, source);
                self.others.push(Other { name, entry, reason });
            }
        }
    }
}
