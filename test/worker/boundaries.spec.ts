import { OutboxStore } from '../../apps/worker/src/outbox/outbox.store.js';
import { inReport, reached } from '../support/faults/promise.js';
import { fixture } from '../support/process/fixture.js';
import { WorkerBoundaries } from '../support/worker/worker-boundaries.js';

/** Cuts at every nth message. */
const EVERY = Number(process.env.EVERY ?? inReport(1, 8));
const boundaries = await fixture(WorkerBoundaries.open());

describe('a connection to PostgreSQL that is cut while a mail is sent', () => {
  it.each([
    ['and comes back', {}],
    ['for good, so that another worker takes over', { forGood: true }],
    ...inReport([['and the mail is deferred', { refused: true }], ['for good, and the mail is deferred', { forGood: true, refused: true }]] as const, []), // prettier-ignore
  ] as const)('%s loses no mail, and sends one twice only if its success was not stored', async (name, plan) => {
    const { recorded, cuts, lost, doubled, findings } = await boundaries.walk({ ...plan, every: EVERY });
    reached(46, `worker, cut ${name}: ${lost} lost, ${doubled} doubled in ${cuts} cuts at ${recorded} messages`);
    expect({ lost, findings }).toEqual({ lost: 0, findings: [] });
    expect(cuts * EVERY).toBeGreaterThan(1.8 * recorded);
    // Only a worker that dies between the server's acceptance and its own commit sends twice.
    if (EVERY === 1) expect(doubled > 0).toBe('forGood' in plan && !('refused' in plan));
  });

  it('catches a worker that marks a mail as sent before sending it', async () => {
    const { lost } = await boundaries.walk({
      forGood: true,
      every: EVERY,
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
