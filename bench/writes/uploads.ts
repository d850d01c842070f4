import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, say } from '../bench.js';
import { judged, medianOf, row, under } from '../tables.js';
import { Client } from './client.js';
import { noise } from './picture.js';
import { forgetPeak, sizeOf } from './process-memory.js';

/** Side lengths in pixels: of a 9 MB image, and of a 12 KB one. */
const LARGE_SIDE = 1_772;
const SMALL_SIDE = 64;

/** A new process in each round, which receives small images first. */
const PLANS = {
  smoke: { rounds: 1, smallUploads: 1, largeUploads: 1, side: 128 },
  quick: { rounds: 2, smallUploads: 20, largeUploads: 10, side: LARGE_SIDE },
  full: { rounds: 5, smallUploads: 20, largeUploads: 10, side: LARGE_SIDE },
};

const EXTRA_MB = under(30);

/** Measures how much an API process grows at most while it receives a large image. */
export async function measureUploads(bench: Bench): Promise<void> {
  const { rounds, smallUploads, largeUploads, side } = PLANS[bench.length];
  const large = formOf(noise(side));
  const small = formOf(noise(SMALL_SIDE));
  say(`\nAn image of ${(large.body.length / 2 ** 20).toFixed(1)} MB, a new process in each of ${rounds} rounds\n`);
  if (!existsSync('/proc/self/clear_refs')) {
    say('Not measured: only Linux tells how large a process was at its largest.');
    return;
  }
  const one: number[] = [];
  const many: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const { child, url } = await bench.serveApi({ DATA_DIR: join(bench.database.folder, 'uploads') });
    const client = new Client(url, bench.database.writingKey);
    const upload = (form: Form) => client.send({ path: '/v1/blog-images', ...form }, 201);
    for (let count = 0; count < smallUploads; count++) await upload(small);
    const before = sizeOf(child.pid, 'VmRSS');
    forgetPeak(child.pid);
    await upload(large);
    one.push(sizeOf(child.pid, 'VmHWM') - before);
    for (let count = 1; count < largeUploads; count++) await upload(large);
    many.push(sizeOf(child.pid, 'VmHWM') - before);
    client.close();
    await child.stop();
  }
  const line = (name: string, values: number[], ...rest: string[]) =>
    say(row(name, [medianOf(values).toFixed(1), Math.max(...values).toFixed(1), ...rest]));
  say(row('extra RSS at its peak', ['median MB', 'highest MB', 'target']));
  line('  one upload', one, ...judged(Math.max(...one), EXTRA_MB));
  line(`  ${largeUploads} uploads, one by one`, many);
}

export interface Form {
  type: string;
  body: Buffer;
}

export function formOf(image: Buffer): Form {
  const head =
    '--bench\r\nContent-Disposition: form-data; name="file"; filename="noise.png"\r\nContent-Type: image/png\r\n\r\n';
  return {
    type: 'multipart/form-data; boundary=bench',
    body: Buffer.concat([Buffer.from(head), image, Buffer.from('\r\n--bench--\r\n')]),
  };
}
