//! Base64 as Secrets have it. Written out because Go's position of a bad byte is part of an error text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, index| {
            bits << 8 | u32::from(chunk.get(index).copied().unwrap_or(0))
        });
        for index in 0..4 {
            let six = usize::try_from(bits >> (18 - 6 * index) & 63).unwrap_or_default();
            let digit = ALPHABET.get(six).copied().unwrap_or(b'=');
            text.push(if index <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// Where Go's decoder stops, if the text is not base64. It skips line breaks.
pub(crate) fn first_bad_byte(text: &str) -> Option<usize> {
    let bytes: Vec<(usize, u8)> =
        text.bytes().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n')).collect();
    let padding = bytes.iter().rev().take(2).take_while(|(_, byte)| *byte == b'=').count();
    let digits = bytes.len() - padding;
    if let Some((at, _)) = bytes.iter().take(digits).find(|(_, byte)| !ALPHABET.contains(byte)) {
        return Some(*at);
    }
    let complete = bytes.len().is_multiple_of(4) && digits % 4 != 1;
    if complete { None } else { Some(text.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for (bytes, text) in
            [("", ""), ("1", "MQ=="), ("12", "MTI="), ("123", "MTIz"), ("1234", "MTIzNA==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(first_bad_byte(text), None, "{text}");
        }
        for (text, at) in
            [("not base64!", Some(3)), ("MQ=\n=", None), ("MQ", Some(2)), ("M===", Some(1))]
        {
            assert_eq!(first_bad_byte(text), at, "{text}");
        }
    }
}
