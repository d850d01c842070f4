import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bomb, BOMBS, flat } from '../../support/data/bombs.js';
import { image } from '../../support/data/images.js';
import { percentile } from '../../support/data/percentile.js';
import { plantedBug } from '../../support/faults/planted-bug.js';
import { forgetPeak, imageProcesses, memoryOf } from '../../support/process/processes.js';
import { reached } from '../../support/faults/promise.js';
import { UploadProcess } from '../../support/http/upload-process.js';
import { fixture, inTest } from '../../support/process/fixture.js';

/** The promised limits: growth of the API's memory, size of the image process, time until the response. */
const MAX_API_MB = 200;
const MAX_PROCESS_MB = 512;
const MAX_SECONDS = 20;

/** What a decoder may allocate between two checks of its size, and what a busy machine adds to a deadline. */
const OVERSHOOT_MB = 150;
const OVERSHOOT_SECONDS = 5;

/** How much another organization's reads may slow down: the image process shares the cores. */
const MAX_SLOWDOWN = 3;
const NOISE_MS = 50;

/** MB; 0 for a process that has ended. */
function residentOf(pid: number): number {
  try {
    return memoryOf(pid, 'VmRSS');
  } catch {
    return 0;
  }
}

interface Outcome {
  status: number;
  seconds: number;
  apiMb: number;
  processMb: number;
  /** Times of another organization's concurrent reads (ms). */
  reads: number[];
}

/** Reads as another organization until `over` returns true. @returns the time of each read (ms) */
async function readMeanwhile({ uploads, api }: UploadProcess, over: () => boolean): Promise<number[]> {
  const times: number[] = [];
  const key = await uploads.api.key((await uploads.make.organization()).id);
  while (!over()) {
    const started = performance.now();
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/students`, { headers: { Authorization: `Token token=${key}` } });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
    times.push(performance.now() - started);
    await sleep(20);
  }
  return times;
}

async function measure(target: UploadProcess, file: Buffer): Promise<Outcome> {
  const { api, uploads } = target;
  forgetPeak(api.pid);
  const resting = memoryOf(api.pid, 'VmRSS');
  let processMb = 0;
  let over = false;
  const watch = async () => {
    while (!over) {
      for (const pid of imageProcesses(api.pid)) processMb = Math.max(processMb, residentOf(pid));
      await sleep(5);
    }
  };
  const watching = Promise.all([readMeanwhile(target, () => over), watch()]);
  const started = performance.now();
  const { status } = await uploads.send(file);
  const seconds = (performance.now() - started) / 1_000;
  over = true;
  const [reads] = await watching;
  return { status, seconds, apiMb: memoryOf(api.pid, 'VmHWM') - resting, processMb, reads };
}

/** The promises that an outcome breaks. */
function breaches({ statuses = [422] }: Pick<Bomb, 'statuses'>, { status, seconds, apiMb, processMb }: Outcome) {
  return [
    !statuses.includes(status) && `status ${status}`,
    seconds > MAX_SECONDS + OVERSHOOT_SECONDS && `${seconds.toFixed(1)} s`,
    apiMb >= MAX_API_MB && `the API +${apiMb.toFixed(0)} MB`,
    processMb > MAX_PROCESS_MB + OVERSHOOT_MB && `the image process ${processMb.toFixed(0)} MB`,
  ].filter(Boolean);
}

/** Whether the other organization's reads slowed down by more than noise. */
const starved = (alone: number[], beside: number[]) => p99(beside) > MAX_SLOWDOWN * p99(alone) + NOISE_MS;

const p99 = (values: number[]) => percentile(values, 0.99);

const target = await fixture(UploadProcess.start());

describe('bombs of every accepted type', () => {
  const families = [...new Set(BOMBS.map(({ family }) => family))];
  it.each(families)('%s', async (family) => {
    const end = performance.now() + 3_000;
    const alone = await readMeanwhile(target, () => performance.now() > end);
    const outcomes: Outcome[] = [];
    const wrong: string[] = [];
    for (const bomb of BOMBS.filter((one) => one.family === family)) {
      const outcome = await measure(target, await bomb.make());
      outcomes.push(outcome);
      wrong.push(...breaches(bomb, outcome).map((breach) => `${bomb.format}, ${bomb.what}: ${breach as string}`));
    }
    const most = (field: 'seconds' | 'apiMb' | 'processMb') => Math.max(...outcomes.map((outcome) => outcome[field]));
    const beside = outcomes.flatMap(({ reads }) => reads);
    reached(
      44,
      `${family}: ${outcomes.length} bombs, API +${most('apiMb').toFixed(0)} MB, ${most('seconds').toFixed(1)} s, image ` +
        `process ${most('processMb').toFixed(0)} of ${MAX_PROCESS_MB} MB; another tenant's reads p99 ` +
        `${p99(alone).toFixed(0)} ms alone, ${p99(beside).toFixed(0)} ms beside them`,
    );
    if (starved(alone, beside)) wrong.push('reads of another organization were slower');
    expect(wrong).toEqual([]);
    expect([target.api.ended, target.api.stderr]).toEqual([null, '']);
    // No temporary file remains, and the next image is stored.
    expect(target.temporaryFiles()).toEqual([]);
    expect((await target.uploads.send(await image('png'))).status).toBe(201);
  });
});

it('catches a build without limits', async () => {
  const [program, formats] = ['child.js', 'formats.js'].map((name) => new URL(`../../../dist/libs/images/src/${name}`, import.meta.url).href);
  const folder = mkdtempSync(join(tmpdir(), 'tutoring-bombs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // imageProcesses() finds them by this name.
  const plant = join(folder, 'images/src/child.js');
  mkdirSync(dirname(plant), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    plant,
    `import { FORMATS } from '${formats}';
    for (const format of Object.values(FORMATS)) format.maxPixels = format.demanding.maxPixels = 1e8;
    await import('${program}');`,
  );
  const bug = `module.ImageProcess.program = '${plant}'; module.ImageProcess.limits.bytes = Infinity;`;
  const planted = await inTest(UploadProcess.start(plantedBug('../../../libs/images/src/image-process.js', bug)));
  const outcome = await measure(planted, await flat(8_192, 6_144, 4).avif({ effort: 0 }).toBuffer());
  reached(44, `planted, no limits: the image process ${outcome.processMb.toFixed(0)} MB`);
  expect(breaches({}, outcome).join()).toMatch(/the image process \d+ MB/);
});
