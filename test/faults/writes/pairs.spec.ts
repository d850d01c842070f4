import { pairsOf, race } from '../../support/faults/pairs.js';
import { reached } from '../../support/faults/promise.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';

it('every pair of writes of the same record, ten at once: no deadlock, and only the answers of a race', async () => {
  const sweep = await TenancySweep.open();
  try {
    const raced = await race(sweep, pairsOf(sweep));
    expect(raced).toMatchObject({ wrong: [], deadlocks: 0 });
    expect(raced.pairs).toBeGreaterThan(150);
    reached(55, `${raced.pairs} pairs, ${raced.deadlocks} deadlocks; ${JSON.stringify(raced.statuses)}`);
  } finally {
    await sweep.stop();
  }
});
