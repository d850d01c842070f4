import { killedBulkInvite } from '../../support/faults/killed-bulk-invite.js';

/** Promise 1 in full. Takes about eight minutes. */
const KILLS = Number(process.env.KILLS ?? 200);

describe('kill -9 of the API in the middle of a bulk invite', { timeout: 1_800_000 }, () => {
  killedBulkInvite(KILLS, {
    'sent twice at once': { kills: KILLS, atOnce: 2 },
    // Here only a kill can cause duplicates.
    'sent again only after a kill': { kills: Math.ceil(KILLS / 2), atOnce: 1 },
  });
});
