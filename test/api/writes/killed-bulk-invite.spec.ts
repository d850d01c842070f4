import { killedBulkInvite } from '../../support/faults/killed-bulk-invite.js';

/** A short run of promise 1; test/faults has the full one. */
describe('kill -9 of the API in the middle of a bulk invite', () => {
  killedBulkInvite(Number(process.env.KILLS ?? 4), { 'sent twice at once': { kills: 2, atOnce: 2 } });
});
