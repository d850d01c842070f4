import { driverErrorOf, sqlStateOf } from './sql-state.js';
import { AWAY } from './schema/functions/moves.js';

/** What an organization refuses that does not simply live in this database: see enter_home. */
export interface Away {
  /** The address of its new home; null while it is being moved. */
  movedTo: string | null;
}

/** The refusal behind an error of the database; null for any other error. */
export function awayOf(error: unknown): Away | null {
  const state = sqlStateOf(error);
  if (state === AWAY.notNow) return { movedTo: null };
  if (state !== AWAY.moved) return null;
  return { movedTo: (driverErrorOf(error) as { detail?: string }).detail ?? '' };
}
