import type { SessionsLeft } from '@app/scheduling';

/** What ended with a membership, as numbers of rows; all of them zero if it had ended before. */
export interface Ended extends SessionsLeft {
  /** False if nobody belonged any more. */
  changed: boolean;
  /** Between tutors and students, or a parent and their children. */
  relations: number;
  /** Places in classrooms, and in groups. */
  classrooms: number;
  groups: number;
  /** API keys of theirs. */
  keys: number;
  /** Open invites and links to them, and those that their keys made for anybody. */
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
};
