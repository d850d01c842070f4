import type { Database } from '@app/database';
import { schedulingOn } from '@app/scheduling';
import { Completion } from './completion.js';
import { Drafts } from './drafts.js';
import { Lessons } from './lessons.js';
import { Payments } from './payments.js';
import { Settlement } from './settlement.js';

/** For programs that are not Nest applications. */
export function billingOn(db: Database): { completion: Completion; payments: Payments } {
  const settlement = new Settlement(db);
  const { changes, register } = schedulingOn(db);
  return {
    completion: new Completion(db, new Lessons(db), new Drafts(db, settlement), changes, register),
    payments: new Payments(db, settlement),
  };
}
