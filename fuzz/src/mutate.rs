use rand::{Rng, RngExt};

/// Numbers at the edges of types and of their uses.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e309",
    "-0.0",
    "0.1",
    "1e-320",
    "NaN",
    "null",
    "99999999999999999999999999999999999999999",
];

/// Bytes with a meaning in some form.
const BYTES: &[u8] = b"\0\n\r\t \"'\\,;:=.+-*/%()[]{}<>#@&|!?_\x7f\x80\xbf\xc0\xff0123456789aeE";

/// Longest input, bytes: time should go to many small ones.
const MOST_BYTES: usize = 1 << 16;
/// How deep brackets are put into one another.
const DEPTHS: [usize; 3] = [4, 200, 20_000];

/// Changes inputs, with words of all seeds at hand.
#[derive(Debug)]
pub struct Mutator {
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// Knows the words of these inputs.
    pub fn new<'a>(seeds: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let mut words: Vec<Vec<u8>> = seeds
            .into_iter()
            .flat_map(|seed| seed.split(move |byte| !is_word(byte)))
            .filter(|word| (1..40).contains(&word.len()))
            .map(<[u8]>::to_vec)
            .collect();
        words.sort();
        words.dedup();
        words.extend(NUMBERS.map(|number| number.as_bytes().to_vec()));
        Self { words }
    }

    /// Changes an input a few times; `other` is where stretches come from.
    pub fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
        // Mostly few changes: an input that is wrong everywhere is refused at its first byte.
        let changes = 1 << rng.random_range(0..5);
        for _ in 0..rng.random_range(1..=changes) {
            self.change(input, other, rng);
        }
        input.truncate(MOST_BYTES);
    }

    fn change(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
        let at = rng.random_range(0..=input.len());
        match rng.random_range(0..12) {
            0 if at < input.len() => input[at] ^= 1 << rng.random_range(0..8),
            1 if at < input.len() => input[at] = rng.random(),
            2 if at < input.len() => input[at] = BYTES[rng.random_range(0..BYTES.len())],
            3 => input.insert(at, BYTES[rng.random_range(0..BYTES.len())]),
            4 => {
                input.drain(stretch(input.len(), rng));
            }
            5 => {
                let copied = input[stretch(input.len(), rng)].to_vec();
                input.splice(at..at, copied);
            }
            6 => {
                let copied = &other[stretch(other.len(), rng)];
                input.splice(at..at, copied.iter().copied());
            }
            7 => {
                let place = stretch(input.len(), rng);
                input.splice(place, other[stretch(other.len(), rng)].iter().copied());
            }
            8 => input.truncate(at),
            9 => self.replace_word(input, at, rng),
            10 => {
                let word = &self.words[rng.random_range(0..self.words.len())];
                input.splice(at..at, word.iter().copied());
            }
            _ => nest(input, at, rng),
        }
    }

    /// Puts another word or number where one is.
    fn replace_word(&self, input: &mut Vec<u8>, at: usize, rng: &mut impl Rng) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let Some(start) = input[at..].iter().position(is_word).map(|from| at + from) else { return };
        let length = input[start..].iter().position(|byte| !is_word(byte)).unwrap_or(input.len() - start);
        let word = &self.words[rng.random_range(0..self.words.len())];
        input.splice(start..start + length, word.iter().copied());
    }
}

/// A stretch of something so long, mostly short.
fn stretch(length: usize, rng: &mut impl Rng) -> std::ops::Range<usize> {
    let start = rng.random_range(0..=length);
    let most = if rng.random_range(0..4) == 0 { length } else { 16 };
    start..start + rng.random_range(0..=most.min(length - start))
}

/// Brackets within brackets.
fn nest(input: &mut Vec<u8>, at: usize, rng: &mut impl Rng) {
    // The deepest seldom: they are long.
    let depth = DEPTHS[rng.random_range(0..100_usize) / 49];
    let opening: &[u8] = [&b"["[..], b"{", b"(", b"-", b"not ", b"{\"a\":"][rng.random_range(0..6)];
    input.splice(at..at, opening.repeat(depth));
}
