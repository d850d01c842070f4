import { BOOKING_REQUEST, CLAIM, INBOX, INVOICE, LEAD, SESSION } from '@app/database';
import { Refused, type StateTable } from '@app/rules';

const TABLES: Record<string, StateTable<string, string>> = { SESSION, INVOICE, CLAIM, LEAD, BOOKING_REQUEST, INBOX };

/** What each action does in each state: the next state, `-` if it has happened, or nothing if it is refused. */
const WANTED: Record<string, Record<string, Record<string, string>>> = {
  SESSION: {
    confirm: { pending: 'scheduled', scheduled: '-' },
    complete: { scheduled: 'completed', completed: '-' },
    cancel: { pending: 'cancelled', scheduled: 'cancelled', cancelled: '-' },
    reopen: { completed: 'scheduled', scheduled: '-' },
  },
  INVOICE: {
    finalize: { draft: 'open', open: '-', paid: '-' },
    settle: { open: 'paid', uncollectible: 'paid', paid: '-' },
    void: { open: 'void', void: '-' },
    write_off: { open: 'uncollectible', uncollectible: '-' },
  },
  CLAIM: {
    approve: { logged: 'approved', approved: '-' },
    reject: { logged: 'rejected', rejected: '-' },
    reimburse: { approved: 'reimbursed', reimbursed: '-' },
  },
  LEAD: {
    renew: { contacted: 'new', lost: 'new', new: '-' },
    contact: { new: 'contacted', consultation_booked: 'contacted', lost: 'contacted', contacted: '-' },
    book: { new: 'consultation_booked', contacted: 'consultation_booked', consultation_booked: '-' },
    convert: { new: 'converted', contacted: 'converted', consultation_booked: 'converted', converted: '-' },
    lose: { new: 'lost', contacted: 'lost', consultation_booked: 'lost', lost: '-' },
  },
  BOOKING_REQUEST: {
    match: { pending: 'matched', matched: '-' },
    decline: { pending: 'declined', declined: '-' },
    expire: { pending: 'expired', expired: '-' },
    reopen: { matched: 'pending', declined: 'pending', expired: 'pending', pending: '-' },
  },
  INBOX: { read: { unread: 'read', read: '-' }, archive: { unread: 'archived', read: 'archived', archived: '-' } },
};

const pairs = Object.entries(TABLES).flatMap(([name, table]) =>
  table.actions.flatMap((action) => table.values.map((state) => [name, action, state] as const)),
);

describe('states', () => {
  it('have an expectation for each action', () => {
    expect(Object.entries(TABLES).map(([name, { actions }]) => [name, [...actions]])).toEqual(
      Object.entries(WANTED).map(([name, actions]) => [name, Object.keys(actions)]),
    );
  });

  it.each(pairs)('%s: %s of one that is %s', (name, action, state) => {
    const table = TABLES[name]!;
    const wanted = WANTED[name]![action]![state];
    if (wanted !== undefined) {
      expect(table.next(action, state)).toBe(wanted === '-' ? null : wanted);
      return;
    }
    const allowed = table.values.filter((from) => (WANTED[name]![action]![from] ?? '-') !== '-');
    expect(() => table.next(action, state)).toThrow(Refused);
    expect(refusalOf(() => table.next(action, state)).why).toEqual({ kind: 'invalid_state', state, allowed: table.allowed(action) });
    expect([...table.allowed(action)].sort()).toEqual([...allowed].sort());
  });
});

function refusalOf(work: () => unknown): Refused {
  try {
    work();
  } catch (error) {
    return error as Refused;
  }
  throw new Error('nothing was refused');
}
