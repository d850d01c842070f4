import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { type Bench, say } from '../bench.js';
import { row } from '../tables.js';
import { Client } from './client.js';
import { photograph } from './picture.js';
import { childrenOf, forgetPeak, sizeOf } from './process-memory.js';
import { formOf } from './uploads.js';

/** The size of a 12-megapixel picture, as most phones take them. */
const WIDTH = 4_000;
const HEIGHT = 3_000;

const SAMPLE_EVERY = 10;

interface Picture {
  name: string;
  file: Buffer;
}

/** Measures re-encoding, by format: quality, size, time, and the memory of the image process and the API. */
export async function measureImages(bench: Bench): Promise<void> {
  say('\nImages encoded anew, the largest that are accepted among them\n');
  if (process.platform !== 'linux') {
    say('Not measured: only Linux tells how large a process was at its largest.');
    return;
  }
  const dataDir = join(bench.database.folder, 'images');
  const { child, url } = await bench.serveApi({ DATA_DIR: dataDir });
  const client = new Client(url, bench.database.writingKey);
  say(row('', ['sent MB', 'stored', 'PSNR dB', 'seconds', 'process MB', 'API +MB']));
  for await (const { name, file } of pictures(bench.length === 'smoke')) {
    forgetPeak(child.pid);
    const before = sizeOf(child.pid, 'VmRSS');
    let peak = 0;
    const sampling = setInterval(() => {
      for (const pid of childrenOf(child.pid)) peak = Math.max(peak, residentOf(pid));
    }, SAMPLE_EVERY);
    const { body, milliseconds } = await client
      .send({ path: '/v1/blog-images', ...formOf(file) }, 201)
      .finally(() => clearInterval(sampling));
    const stored = join(dataDir, 'media', (JSON.parse(body) as { path: string }).path);
    const cells = [
      (file.length / 1e6).toFixed(1),
      `${(statSync(stored).size / file.length).toFixed(2)}x`,
      (await psnr(file, readFileSync(stored))).toFixed(1),
      (milliseconds / 1_000).toFixed(2),
      peak.toFixed(0),
      (sizeOf(child.pid, 'VmHWM') - before).toFixed(0),
    ];
    say(row(`  ${name}`, cells));
  }
  client.close();
  await child.stop();
}

/** @param cheapest only the last one, which is the cheapest */
async function* pictures(cheapest: boolean): AsyncGenerator<Picture> {
  const [width, height] = cheapest ? [WIDTH / 20, HEIGHT / 20] : [WIDTH, HEIGHT];
  const raw = { width, height, channels: 3 as const };
  const whole = await sharp(photograph(width, height), { raw }).blur(0.6).png({ compressionLevel: 1 }).toBuffer();
  const sized = (width: number, height: number) => sharp(whole).resize(width, height, { fit: 'fill' });
  const made: [string, () => Sharp][] = [
    ['JPEG, 12 megapixels', () => sharp(whole).jpeg({ quality: 85 })],
    ['JPEG, 50, on its side', () => sized(8_192, 6_144).withMetadata({ orientation: 6 }).jpeg({ quality: 85 })],
    ['PNG, 2', () => sized(1_632, 1_224).png()],
    ['WebP, 12', () => sharp(whole).webp({ effort: 2 })],
    ['WebP, 25', () => sized(6_144, 4_096).webp({ effort: 2 })],
    ['WebP, lossless, 4', () => sized(2_304, 1_728).webp({ lossless: true, quality: 20 })],
    ['AVIF, 8', () => sized(3_264, 2_448).avif({ quality: 60, effort: 1 })],
    ['AVIF, 16', () => sized(4_096, 4_096).avif({ quality: 60, effort: 1 })],
    ['GIF, 0.5', () => sized(816, 612).gif()],
  ];
  for (const [name, make] of made.slice(cheapest ? -1 : 0)) yield { name, file: await make().toBuffer() };
}

/** PSNR of two pictures (dB). Differences are invisible above 40. */
async function psnr(one: Buffer, other: Buffer): Promise<number> {
  const seen = (file: Buffer) => sharp(file).autoOrient().removeAlpha().raw().toBuffer();
  const [a, b] = [await seen(one), await seen(other)];
  let squares = 0;
  for (let index = 0; index < a.length; index++) squares += (a[index]! - b[index]!) ** 2;
  return 10 * Math.log10(255 ** 2 / (squares / a.length));
}

/** @returns 0 for a process that has ended in the meantime */
function residentOf(pid: number): number {
  try {
    return sizeOf(pid, 'VmHWM');
  } catch {
    return 0;
  }
}
