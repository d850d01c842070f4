/** Every scope and what it grants, in the order of the reference. The database's check constraint has the same set. */
export const SCOPES = {
  read: 'Read-only access to all of the organization’s data; without it, a write answers only what it sent, made or decided',
  'payments:write': 'Record and refund payments; create, issue and void invoices',
  'tutors:write': 'Create and update tutors, classrooms and groups; add members to classrooms and groups',
  'payroll:write': 'Create and void payroll adjustments; record payouts; log and decide on mileage and expenses',
  'coursework:write': 'Create and update lesson plans and questions',
  'sessions:write': 'Create, update, complete, reopen, cancel and delete sessions',
  'messages:write': 'Send messages to members and linked parents',
  'accounts:write':
    'Create student, tutor and parent accounts; invite people, admins too, whom an owner has to approve; ' +
    'offboard students, tutors and parents',
  'students:write': 'Provision students and parents in bulk; update students',
  'blog:write': 'Write, publish and delete blog posts; upload images',
  'leads:write': 'Record leads and booking requests, as a web form does; with read, update leads',
  'settings:write': 'Set up subjects, prices, locations and the organization itself',
  'webhooks:write':
    'See webhook endpoints, replace their secrets, test and delete them; with read, create and change them, and see and replay ' +
    'their deliveries',
  'exports:write': 'Ask for an export of all data, which an owner has to confirm and to fetch',
  'erasure:write': 'Ask to erase people who have left, which an owner has to confirm',
  write:
    'Everything that payments:write, tutors:write, payroll:write, coursework:write, messages:write and leads:write allow. ' +
    'Does not include sessions:write, accounts:write, students:write, settings:write, webhooks:write, exports:write, erasure:write or blog:write',
} as const;

export type Scope = keyof typeof SCOPES;

/** What the umbrella scope covers. The others create accounts, publish or send data out, so each must be granted explicitly. */
const UMBRELLA: ReadonlySet<string> = new Set<Scope>([
  'payments:write',
  'tutors:write',
  'payroll:write',
  'coursework:write',
  'leads:write',
  'messages:write',
]);

/** Whether a key with these scopes has the scope `needed`. */
export function grants(held: ReadonlySet<string>, needed: Scope): boolean {
  return held.has(needed) || (held.has('write') && UMBRELLA.has(needed));
}

/** Whether a key with these scopes reads the codes that let people in: it could invite them as well. */
export function readsCodes({ scopes }: { scopes: Iterable<string> }): boolean {
  const held = new Set(scopes);
  return held.has('read') && grants(held, 'accounts:write');
}

export function isScope(name: string): name is Scope {
  return Object.hasOwn(SCOPES, name);
}
