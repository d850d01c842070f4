const ORIENTATION = 0x0112;

/** How EXIF begins in a JPEG, and in some files of other formats. */
export const EXIF = Buffer.from('Exif\0\0', 'latin1');

/** The orientation that EXIF tells; 1 when it tells none that makes sense. */
export function orientationOf(exif: Buffer): number {
  try {
    const tiff = exif.subarray(0, EXIF.length).equals(EXIF) ? exif.subarray(EXIF.length) : exif;
    const order = tiff.toString('latin1', 0, 2);
    if (order !== 'II' && order !== 'MM') return 1;
    const u16 = (at: number) => (order === 'II' ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
    const directory = order === 'II' ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
    const entries = u16(directory);
    for (let index = 0; index < entries; index++) {
      const entry = directory + 2 + index * 12;
      if (u16(entry) !== ORIENTATION) continue;
      const value = u16(entry + 8);
      return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
  } catch {
    // Broken metadata is no fault of the picture: it is thrown away anyway.
    return 1;
  }
}
