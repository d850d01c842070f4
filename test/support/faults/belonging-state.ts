export type Role = 'owner' | 'admin' | 'tutor' | 'student';
export type CodeKind = 'student' | 'tutor' | 'class' | 'parent';
type Status = 'accepted' | 'pending' | 'archived';

export interface Member {
  role: Role;
  status: Status;
  /** For somebody's approval. */
  waits: boolean;
  /** When they began to belong, and when that ended, in steps of the oracle's clock. */
  made: number;
  gone: number;
}

export interface Invite {
  /** Unknown until the database has told. */
  id: string | null;
  kind: CodeKind | 'mail';
  role: Role | 'parent';
  /** The only person who can use it. */
  to: number | null;
  /** Who made it, in the portal or with their key. */
  by: number | null;
  key: number | null;
  state: 'open' | 'held' | 'off' | 'closed';
  places: number | null;
  made: number;
  joins: Map<number, { at: number; approval: 'waiting' | 'approved' | null }>;
}

export interface State {
  clock: number;
  members: Map<number, Member>;
  parents: Map<number, { status: Status; linked: boolean; made: number }>;
  inClass: Set<number>;
  invites: Invite[];
  /** How many keys of each person work. */
  keys: Map<number, number>;
}

/** What somebody does, of which everything is decided but the outcome. Invites are named by their place in the list. */
export type Act =
  | { do: 'join'; who: number; invite: number }
  | { do: 'declineMail'; who: number; invite: number }
  | { do: 'answer'; who: number; accept: boolean }
  | { do: 'invite'; by: number; who: number; role: 'student' | 'tutor' | 'admin' }
  | { do: 'keyInvite'; by: number | null; who: number; role: 'student' | 'tutor' | 'admin' }
  | { do: 'decide'; by: number; who: number; as: 'member' | 'parent'; approve: boolean }
  | { do: 'remove'; by: number; who: number }
  | { do: 'keyRemove'; who: number; as: 'student' | 'staff' | 'parent' }
  | { do: 'leave'; who: number }
  | { do: 'role'; by: number; who: number; role: 'owner' | 'admin' | 'tutor' }
  | { do: 'replace' | 'switchOff'; by: number; invite: number }
  | { do: 'undo'; by: number; invite: number; since: number; moment: string }
  | { do: 'makeKey'; by: number };
