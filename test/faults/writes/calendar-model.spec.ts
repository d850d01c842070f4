import { findOverlap } from '../../support/faults/calendar-model.js';
import { TestApi } from '../../support/http/api.js';

/** Each batch has its own database. */
const BATCH = 100;
const HISTORIES = 200;

const seed = Math.floor(Math.random() * 2 ** 31);

describe(`no tutor is booked twice (seed ${seed})`, () => {
  it.each(Array.from({ length: HISTORIES / BATCH }, (_, batch) => seed + batch))(
    `in ${BATCH} random histories by up to eight clients at once, from seed %d`,
    async (from) => {
      const api = await TestApi.start();
      const found = await findOverlap(api, { seed: from, runs: BATCH }).finally(() => api.stop());
      expect(found).toBeNull();
    },
  );
});
