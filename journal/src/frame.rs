//! One line: `{"version":2,"line":7,"checksum":"0123456789abcdef","event":{…}}`.
//!
//! The checksum is the first 64 bits of BLAKE3 over version, line number and the exact bytes of the event,
//! so it can be checked before anything in the line is believed. The line's own number shows lost lines.

use crate::{DamageCause, Event, JournalError};

/// Version of the form of a line, raised when an older tool would misread one.
pub const JOURNAL_VERSION: u32 = 2;

pub(crate) const START: &[u8] = b"{\"version\":";
const LINE: &[u8] = b",\"line\":";
const CHECKSUM: &[u8] = b",\"checksum\":\"";
const EVENT: &[u8] = b"\",\"event\":";

/// A line that is intact.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Number that the line was given when written, from 1.
    pub(crate) number: u64,
    /// What it holds.
    pub(crate) event: Result<Event, DamageCause>,
}

/// The line of an event, its end included.
pub(crate) fn encode(number: u64, event: &Event) -> Result<Vec<u8>, JournalError> {
    let unwritable = |problem: String| JournalError::Unwritable { problem };
    let body = serde_json::to_vec(event).map_err(|error| unwritable(error.to_string()))?;
    let sum = checksum(JOURNAL_VERSION, number, &body);
    let mut line =
        format!("{{\"version\":{JOURNAL_VERSION},\"line\":{number},\"checksum\":\"{sum}\",\"event\":")
            .into_bytes();
    line.extend_from_slice(&body);
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// Reads one line, without its end.
pub(crate) fn decode(line: &[u8]) -> Result<Frame, DamageCause> {
    let rest = line.strip_prefix(START).ok_or(DamageCause::Form)?;
    let (version, rest) = split(rest, LINE)?;
    let (number, rest) = split(rest, CHECKSUM)?;
    let (sum, rest) = split(rest, EVENT)?;
    let body = rest.strip_suffix(b"}").ok_or(DamageCause::Form)?;
    let (version, number) = (parse(version)?, parse(number)?);
    let version = u32::try_from(version).map_err(|_| DamageCause::Form)?;
    if sum != checksum(version, number, body).as_bytes() {
        return Err(DamageCause::Checksum);
    }
    let event = if version > JOURNAL_VERSION {
        Err(DamageCause::Newer(version))
    } else {
        serde_json::from_slice(body).map_err(|error| DamageCause::Event(error.to_string()))
    };
    Ok(Frame { number, event })
}

fn checksum(version: u32, number: u64, body: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&version.to_le_bytes()).update(&number.to_le_bytes()).update(body);
    hasher.finalize().to_hex()[..16].to_owned()
}

fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Result<(&'a [u8], &'a [u8]), DamageCause> {
    let place = bytes.windows(at.len()).position(|window| window == at).ok_or(DamageCause::Form)?;
    Ok((&bytes[..place], &bytes[place + at.len()..]))
}

/// A whole number exactly as [`encode`] writes it.
fn parse(digits: &[u8]) -> Result<u64, DamageCause> {
    let text = std::str::from_utf8(digits).map_err(|_| DamageCause::Form)?;
    let number: u64 = text.parse().map_err(|_| DamageCause::Form)?;
    if number.to_string() == text { Ok(number) } else { Err(DamageCause::Form) }
}

/// A line with the checksum that its content has; `None` where it has not the form of a line.
#[cfg(test)]
pub(crate) fn mended(line: &[u8]) -> Option<Vec<u8>> {
    let (version, rest) = split(line.strip_prefix(START)?, LINE).ok()?;
    let (number, rest) = split(rest, CHECKSUM).ok()?;
    let (_, rest) = split(rest, EVENT).ok()?;
    let body = rest.strip_suffix(b"}")?;
    let sum = checksum(parse(version).ok()? as u32, parse(number).ok()?, body);
    Some([START, version, LINE, number, CHECKSUM, sum.as_bytes(), EVENT, body, b"}"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CampaignEnded, EndReason};

    fn ended() -> Event {
        Event::CampaignEnded(CampaignEnded { why: EndReason::Time, winner: Some(3), at_ns: 9 })
    }

    #[test]
    fn a_line_is_read_back() {
        let line = encode(12, &ended()).unwrap();
        let frame = decode(line.strip_suffix(b"\n").unwrap()).unwrap();
        assert_eq!((frame.number, frame.event.unwrap()), (12, ended()));
    }

    #[test]
    fn every_bit_of_a_line_is_covered() {
        let line = encode(1, &ended()).unwrap();
        let line = line.strip_suffix(b"\n").unwrap();
        for at in 0..line.len() * 8 {
            let mut flipped = line.to_vec();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(decode(&flipped).is_err(), "bit {at}");
        }
    }

    // U080
    #[test]
    fn a_later_version_is_told_from_damage() {
        let body = br#"{"unheard_of":{}}"#;
        let sum = checksum(9, 1, body);
        let line = |version: u32| {
            format!(
                "{{\"version\":{version},\"line\":1,\"checksum\":\"{sum}\",\"event\":{}}}",
                String::from_utf8_lossy(body)
            )
        };
        assert_eq!(decode(line(9).as_bytes()).unwrap().event, Err(DamageCause::Newer(9)));
        assert_eq!(decode(line(8).as_bytes()).unwrap_err(), DamageCause::Checksum);
    }
}
