import { killedBulkInvite } from '../support/faults/killed-bulk-invite.js';

/** Promise 1, each time the tests run; test/faults has the whole of it. */
describe('kill -9 of the API in the middle of a bulk invite', { timeout: 120_000 }, () => {
  killedBulkInvite(Number(process.env.KILLS ?? 8), { 'sent twice at once': { kills: 5, atOnce: 2 } });
});
