import { Database } from '@app/database';
import { Calendar } from '../../../libs/scheduling/src/calendar.js';
import { SeriesPatterns } from '../../../libs/scheduling/src/series-patterns.js';
import { findOverlap } from '../../support/faults/calendar-model.js';
import { inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const seed = seedOf();

describe(`no tutor is booked twice (seed ${seed})`, () => {
  it('in random histories by up to eight clients at once', async () => {
    expect(await findOverlap(api, { seed, runs: inReport(200, 12) })).toBeNull();
    reached(58, `${inReport(200, 12)} histories`, seed);
  });

  it('finds a lock without a check', async () => {
    vi.spyOn(Calendar.prototype, 'lock').mockResolvedValue([]);
    expect(await findOverlap(api, { seed: 7, runs: 50 })).not.toBeNull();
    vi.restoreAllMocks();
  });

  it('finds an offset instead of a time zone', async () => {
    vi.spyOn(SeriesPatterns.prototype, 'zoneOf').mockResolvedValue('Etc/GMT-11');
    expect(await findOverlap(api, { seed: 7, runs: 50 })).not.toBeNull();
    vi.restoreAllMocks();
  });

  // The last one: without its constraint the database is of no more use.
  it('finds a check without a lock, once the second lock is gone too', async () => {
    await api.make.query('ALTER TABLE sessions DROP CONSTRAINT sessions_overlap');
    vi.spyOn(Database.prototype, 'lock').mockResolvedValue();
    expect(await findOverlap(api, { seed: 7, runs: 100 })).not.toBeNull();
    vi.restoreAllMocks();
  });
});
