/** Sequence header, temporal delimiter, frame headers, tile groups, metadata, frames, tile lists and padding. */
const KNOWN = new Set([1, 2, 3, 4, 5, 6, 7, 8, 15]);

/** Whether the data is AV1 from its first byte to its last: https://aomediacodec.github.io/av1-spec/, 5.3. */
export function isAv1(data: Buffer): boolean {
  let at = 0;
  while (at < data.length) {
    const header = data.readUInt8(at);
    // Two bits that are always 0; a type; whether there is an extension, and a size.
    if ((header & 0x81) !== 0 || !KNOWN.has((header >> 3) & 15)) return false;
    at += (header & 4) === 0 ? 1 : 2;
    // The last one may reach to the end without saying so.
    if ((header & 2) === 0) return true;
    const { value, bytes } = leb128(data, at);
    at += bytes + value;
  }
  return at === data.length;
}

/** A number of seven bits in each byte. @throws RangeError when the data ends before it does */
function leb128(data: Buffer, from: number): { value: number; bytes: number } {
  let value = 0;
  for (let bytes = 0; bytes < 8; bytes++) {
    const byte = data.readUInt8(from + bytes);
    value += (byte & 0x7f) * 2 ** (7 * bytes);
    if (byte < 0x80) return { value, bytes: bytes + 1 };
  }
  throw new RangeError('A size without an end');
}
