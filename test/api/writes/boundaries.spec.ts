import { Boundaries } from '../../support/faults/boundaries.js';
import { inReport, reached } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 46: connections end at every protocol message, not at random ones. EVERY=n tries every nth; ONLY selects writes by name. */
const EVERY = Number(process.env.EVERY ?? inReport(1, 10));
const SAMPLE = ['POST /v1/students', 'POST /v1/blog-posts', 'PATCH /v1/blog-posts/:post_id'];
const boundaries = await fixture(Boundaries.open());
const writes = boundaries.writes.filter(({ name }) => inReport(name.includes(process.env.ONLY ?? ''), SAMPLE.includes(name)));

describe('a PostgreSQL connection lost in the middle of a write', () => {
  it.each(writes)('$name has one effect and one answer after a retry', async (write) => {
    const { findings, cuts, recorded, untold } = await boundaries.walk(write, EVERY);
    reached(46, `${write.name}: ${findings.length} doubled, lost or answered otherwise in ${cuts} cuts at both sides of ${recorded} messages, ${untold} done untold`); // prettier-ignore
    expect(findings).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(2 * Math.floor(recorded / EVERY));
    // Proves that some cuts fell between the commit and the answer.
    if (!write.replay) expect(untold).toBeGreaterThan(0);
  });

  it.each(inReport(['POST /v1/students'], []))('catches a key stored in a different transaction from its effect: %s', async (name) => {
    const takeOut = await boundaries.keepKeysApart();
    const { findings } = await boundaries.walk(boundaries.writes.find((one) => one.name === name)!).finally(takeOut);
    expect(findings.length).toBeGreaterThan(0);
  });
});
