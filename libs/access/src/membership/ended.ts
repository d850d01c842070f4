import type { SessionsLeft } from '@app/scheduling';
import type { WaysInEnded } from './ways-in.js';

/** What ended with a membership, as numbers of rows; all of them zero if it had ended before. */
export interface Ended extends SessionsLeft, WaysInEnded {
  /** False if nobody belonged any more. */
  changed: boolean;
  /** Between tutors and students, or a parent and their children. */
  relations: number;
  /** Places in classrooms, and in groups. */
  classrooms: number;
  groups: number;
  /** API keys of theirs. */
  keys: number;
  /** Open invites and links to them. */
  invites: number;
}

export const NOTHING_ENDED: Ended = {
  changed: false,
  relations: 0,
  classrooms: 0,
  groups: 0,
  handedOver: 0,
  unassigned: 0,
  cancelled: 0,
  keys: 0,
  invites: 0,
  codes: 0,
  held: 0,
  kept: [],
};
