import { createCipheriv } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** A square PNG of noise, always the same. It does not compress: the file has three bytes per pixel. */
export function noise(side: number): Buffer {
  const lines = Buffer.alloc(side * (1 + 3 * side));
  const random = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(lines);
  // The first byte of a line is its filter type: none.
  for (let line = 0; line < side; line++) random[line * (1 + 3 * side)] = 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8);
  const data = deflateSync(random, { level: 0 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/**
 * The pixels of a picture like a camera's, always the same: gradients, fine texture, hard edges and sensor noise.
 */
export function photograph(width: number, height: number): Buffer {
  const pixels = Buffer.alloc(width * height * 3);
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(width * height));
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [u, v] = [x / width, y / height];
      const texture = 25 * Math.sin(x * 0.2 * (1 + v)) * Math.sin(y * 0.17 * (1 + u));
      const edge = (Math.floor(u * 15) + Math.floor(v * 16)) % 5 === 0 ? -50 : 0;
      const light = texture + edge + (noise[y * width + x]! - 128) / 20;
      pixels[at++] = clamp(120 + 80 * Math.sin(3 * u + 2 * v) + light);
      pixels[at++] = clamp(110 + 70 * Math.sin(5 * v + u) + light);
      pixels[at++] = clamp(130 + 90 * Math.cos(4 * u - v) + light);
    }
  }
  return pixels;
}

function clamp(value: number): number {
  return Math.max(0, Math.min(255, value));
}
