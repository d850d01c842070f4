import { OutboxStore } from '../../../apps/worker/src/outbox/outbox.store.js';
import { Boundaries, type Walk } from '../../support/faults/boundaries.js';
import { reached } from '../../support/faults/promise.js';
import { WorkerBoundaries } from '../../support/worker/worker-boundaries.js';
import { fixture } from '../../support/process/fixture.js';

/**
 * Promise 46: connections end at every protocol message, not at random ones. Takes about nine minutes. ONLY selects writes
 * by name; EVERY=n tries every nth message.
 */
const EVERY = Number(process.env.EVERY ?? 1);
const ONLY = process.env.ONLY ?? '';
/** Findings shown on failure. */
const FIRST = 20;

const api = await fixture(Boundaries.open());
const worker = await fixture(WorkerBoundaries.open());

describe('an API connection cut at any message', () => {
  it('of any write loses nothing, duplicates nothing and changes no answer', async () => {
    const writes = api.writes.filter(({ name }) => name.includes(ONLY));
    const walks: Walk[] = [];
    for (const write of writes) {
      const walk = await api.walk(write, EVERY);
      process.stdout.write(`boundaries: ${write.name}: ${walk.cuts} cuts at ${walk.recorded} messages, ${walk.findings.length} findings\n`);
      walks.push(walk);
    }
    const sum = (count: (walk: Walk) => number) => walks.reduce((total, walk) => total + count(walk), 0);
    const findings = walks.flatMap((walk) => walk.findings);
    reached(
      46,
      `${findings.length} doubled, lost or answered otherwise in ${sum(({ cuts }) => cuts)} cuts at both sides of all ` +
        `${sum(({ recorded }) => recorded)} messages of ${writes.length} writes, ${sum(({ untold }) => untold)} done untold`,
    );
    expect(findings.slice(0, FIRST)).toEqual([]);
    // Proves that some cuts fell between the commit and the answer.
    for (const [index, { untold }] of walks.entries()) {
      const { replay, name } = writes[index]!;
      if (!replay) expect(untold, name).toBeGreaterThan(0);
    }
  });

  it('catches a key stored in a different transaction from its effect', async () => {
    const write = api.writes.find(({ name }) => name === 'POST /v1/students')!;
    const takeOut = await api.keepKeysApart();
    try {
      const { findings } = await api.walk(write);
      expect(findings.length).toBeGreaterThan(0);
    } finally {
      await takeOut();
    }
  });
});

describe('a worker connection cut at any message', () => {
  it.each([
    ['of a mail that is sent', {}],
    ['of a mail that is deferred', { refused: true }],
    ['for good, of a mail that is sent', { forGood: true }],
    ['for good, of a mail that is deferred', { forGood: true, refused: true }],
  ])('%s', async (name, plan) => {
    const { recorded, cuts, lost, doubled, findings } = await worker.walk({ ...plan, every: EVERY });
    reached(46, `worker, ${name}: ${lost} lost, ${doubled} doubled in ${cuts} cuts at ${recorded} messages`);
    expect({ lost, findings }).toEqual({ lost: 0, findings: [] });
    expect(cuts * EVERY).toBeGreaterThan(1.8 * recorded);
    // Only a worker that dies between the server's acceptance and its own commit sends twice.
    expect(doubled > 0).toBe('forGood' in plan && !('refused' in plan));
  });

  it('catches a worker that marks a mail as sent before sending it', async () => {
    const { lost } = await worker.walk({
      forGood: true,
      plant: (planted) => {
        const store = planted.get(OutboxStore);
        const claim = store.claim.bind(store);
        store.claim = async (...wanted) => {
          const message = await claim(...wanted);
          if (message) await store.finish(message, 'sent', null, null);
          return message;
        };
      },
    });
    expect(lost).toBeGreaterThan(0);
  });
});
