import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TABLES } from '../../apps/cli/src/import/tables.js';
import { CHANGEABLE } from '../../apps/cli/src/import/updating.js';

const VERBS = ['create', 'read', 'change', 'end', 'list'] as const;
type Verb = (typeof VERBS)[number];
type By = 'API' | 'portal' | 'command line' | 'import';

/** A resource: what the portal and the command line do with it, and its tables in import files. */
interface Resource {
  portal?: string;
  cli?: string;
  tables?: string[];
  /** Operations of other paths. */
  api?: Partial<Record<Verb, string>>;
  /** Why something is missing. */
  why?: Partial<Record<Verb, string>>;
}

const ROWS_OF_OTHERS = 'part of another record, which is read';
const HISTORY = 'history: it stays as it was';
const PAIR = 'it says only that there is one: it is ended, and made anew';

/** In the order of the page. */
const RESOURCES: Record<string, Resource> = {
  org: { portal: 'read change', cli: 'create change list', why: { create: 'the operator does', end: 'the operator does', list: 'a key has one' } },
  students: { portal: 'create read end list', cli: 'end', tables: ['users', 'members'] },
  tutors: { portal: 'create read end list', cli: 'end', tables: ['users', 'members', 'tutor_profiles', 'tutor_subjects'] },
  parents: { portal: 'create read end list', cli: 'end', tables: ['users', 'parents'] },
  'children of parents': {
    ...{ portal: 'end list', tables: ['parent_students'], why: { change: PAIR } },
    api: { create: 'POST /v1/parents/{parent_id}/link-student', read: 'GET /v1/parents/{parent_id}', end: 'DELETE /v1/parents/{parent_id}/students/{student_id}', list: 'GET /v1/parents' },
  },
  'students of tutors': {
    ...{ tables: ['tutor_students'], why: { read: 'all are listed at once', change: PAIR } },
    api: { create: 'POST /v1/tutors/{tutor_id}/students', end: 'DELETE /v1/tutors/{tutor_id}/students/{student_id}', list: 'GET /v1/tutors/{tutor_id}/students' },
  },
  invites: { portal: 'create read end list', why: { read: 'whoever makes one sees it, once', change: 'a link says what it said when it was mailed', list: 'it would show addresses of people who never came; the portal does' } },
  subjects: { portal: 'create read change end list', tables: ['subjects'] },
  'rate-bands': { portal: 'create read change end list', tables: ['rate_bands'] },
  'tutor-tiers': { portal: 'create read change end list', tables: ['tutor_tiers'] },
  'rate-cells': { portal: 'create change end list', tables: ['rate_cells'] },
  locations: { tables: ['locations'] },
  classrooms: { tables: ['classrooms'] },
  groups: { tables: ['student_groups'], api: { read: 'GET /v1/student-groups/{group_id}', list: 'GET /v1/student-groups' } },
  ...Object.fromEntries((['classroom', 'group'] as const).map((kind) => [`members of ${kind}s`, {
    ...{ tables: [kind === 'group' ? 'student_group_members' : 'classroom_members'], why: { read: 'all are listed at once', change: PAIR } },
    api: { create: `POST /v1/${kind}s/{${kind}_id}/students`, end: `DELETE /v1/${kind}s/{${kind}_id}/students/{student_id}`, list: `GET /v1/${kind}s/{${kind}_id}/members` },
  }])),
  availabilities: {
    tables: ['availabilities'],
    api: { create: 'PUT /v1/tutors/{tutor_id}/availabilities', change: 'PUT /v1/tutors/{tutor_id}/availabilities', end: 'PUT /v1/tutors/{tutor_id}/availabilities' },
  },
  'time-off': {
    tables: ['time_off'],
    api: { create: 'PUT /v1/tutors/{tutor_id}/time-off', change: 'PUT /v1/tutors/{tutor_id}/time-off', end: 'PUT /v1/tutors/{tutor_id}/time-off', list: 'GET /v1/tutors/{tutor_id}/time-off' },
    why: { read: ROWS_OF_OTHERS },
  },
  people: {
    ...{ portal: 'create end', cli: 'create' },
    api: { create: 'POST /v1/people/{person_id}/erase' },
    why: { read: 'asking again answers it', change: 'the owner who confirms it decides', end: 'an owner calls it off in the portal', list: 'the portal shows it with the person' },
  },
  exports: { portal: 'create end list', cli: 'create', why: { change: 'it is called off, and asked for anew', end: 'an owner calls it off' } },
  'webhook-endpoints': { portal: 'create read change end list', cli: 'create change end list' },
  sessions: { portal: 'read change list', tables: ['sessions'] },
  'lesson-participants': { portal: 'list', tables: ['lesson_participants'], api: { create: 'POST /v1/sessions', end: 'PATCH /v1/lesson-participants/{participant_id}' } },
  'lesson-plans': { tables: ['lesson_plans'] },
  homework: { tables: ['homework'] },
  results: { tables: ['results'], why: { end: HISTORY } },
  files: { portal: 'read', tables: ['files'] },
  questions: { tables: ['questions'] },
  'session-feedback': { tables: ['session_feedback'], why: { end: 'what somebody said is hidden by its author, not deleted' } },
  'booking-requests': { portal: 'read change list', tables: ['booking_requests'], why: { end: 'it is declined, which is a change, or expires' } },
  leads: { portal: 'read change list', tables: ['leads'] },
  conversations: { tables: ['conversations', 'conversation_participants'], why: { end: 'those who take part leave it' } },
  messages: { tables: ['messages'], api: { list: 'GET /v1/conversations/{conversation_id}/messages' }, why: { read: 'listed in its conversation', change: 'what was sent stays as it was sent' } },
  'org-inbox': { portal: 'read change end list', tables: ['inbox_messages'], why: { end: 'it is archived, which is a change' } },
  invoices: { portal: 'create read change end list', tables: ['invoices'], why: { change: 'a draft takes and loses lines; an issued one is voided' } },
  'lines of invoices': {
    ...{ portal: 'create end list', tables: ['invoice_lines'], why: { read: ROWS_OF_OTHERS, list: ROWS_OF_OTHERS, change: 'it is deleted from the draft, and made anew' } },
    api: { create: 'POST /v1/invoices/{invoice_id}/lines', end: 'DELETE /v1/invoices/{invoice_id}/lines/{line_id}' },
  },
  payments: { portal: 'create read end list', tables: ['payments'], why: { change: 'a wrong one is voided' } },
  payouts: { tables: ['payouts'], why: { change: 'a wrong one is voided' } },
  adjustments: { tables: ['adjustments'], why: { change: 'a wrong one is voided' } },
  mileage: { portal: 'change list', tables: ['mileage_trips'] },
  expenses: { portal: 'change list', tables: ['expense_claims'] },
  'blog-posts': { tables: ['blog_posts'] },
}; // prettier-ignore

/** Why a channel lacks most of it. */
const WHY: Record<Exclude<By, 'API'>, string> = {
  portal: 'the portal has no pages for the rest yet',
  'command line': 'it is for operators: organizations, their managers and keys',
  import: 'commands and requests make them, no file',
};

/** Why an import only adds rows. */
const ADDED = 'what has steps of its own, or has happened, a file only adds';

/** What is no record: computed, or a log. */
const COMPUTED = [
  'ping',
  'me',
  'users',
  'coverage',
  'available-slots',
  'reports',
  'request-log',
  'events',
  'event-types',
  'student-groups',
  'session-series',
  'blog-images',
  'webhook-deliveries',
];

const document = JSON.parse(readFileSync(fileURLToPath(new URL('../../dist/apps/api/assets/openapi.json', import.meta.url)), 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);
const at = (name: string) => `^\\w+ /v1/${name}`;

/** Which requests do it. */
const PATTERNS: Record<Verb, (name: string) => RegExp> = {
  create: (name) => new RegExp(`${at(name)}$`.replace('\\w+', 'POST')),
  read: (name) => new RegExp(`${at(name)}(/\\{\\w+\\})${name === 'org' ? '?' : ''}$`.replace('\\w+', 'GET')),
  change: (name) => new RegExp(`${at(name)}(/\\{\\w+\\})${name === 'org' ? '?' : ''}$`.replace('\\w+', '(PUT|PATCH)')),
  end: (name) => new RegExp(`^(DELETE /v1/${name}/\\{\\w+\\}|POST /v1/${name}/\\{\\w+\\}/(void|cancel|offboard))$`),
  list: (name) => new RegExp(`${at(name)}$`.replace('\\w+', name === 'org' ? 'NONE' : 'GET')),
};

function byApi(name: string, verb: Verb, { api = {} }: Resource): string | undefined {
  const elsewhere = api[verb];
  if (elsewhere !== undefined) {
    if (!operations.includes(elsewhere)) throw new Error(`${name}: there is no ${elsewhere}`);
    return elsewhere;
  }
  return operations.find((operation) => PATTERNS[verb](name).test(operation));
}

function byOthers(by: Exclude<By, 'API'>, { portal = '', cli = '', tables = [] }: Resource): string[] {
  if (by === 'portal') return portal.split(' ').filter(Boolean);
  if (by === 'command line') return cli.split(' ').filter(Boolean);
  for (const table of tables) if (!TABLES.includes(table)) throw new Error(`${table} is no table of the import`);
  return [...(tables.length > 0 ? ['create'] : []), ...(tables.some((table) => CHANGEABLE[table]) ? ['change'] : [])];
}

function page(): string {
  const reasons: string[] = [];
  const note = (why: string) => (reasons.includes(why) ? reasons.indexOf(why) + 1 : reasons.push(why));
  const rows = Object.entries(RESOURCES).map(([name, resource]) => {
    const api = VERBS.map((verb) => {
      const operation = byApi(name, verb, resource);
      if (operation) return `\`${operation.replace(`/v1/${name}`, '').replace(/ $/, '').trim()}\``;
      const why = resource.why?.[verb];
      if (!why) throw new Error(`${name} cannot be ${verb}d by API: give it an operation, or say why not in test/docs/resources.spec.ts`);
      return `<sup>${note(why)}</sup>`;
    });
    const others = (['portal', 'command line', 'import'] as const).map((by) => {
      const verbs = byOthers(by, resource);
      const lacks = verbs.length < (by === 'import' ? 2 : VERBS.length);
      const why = by === 'import' && verbs.length > 0 ? ADDED : WHY[by];
      return `${verbs.join(', ')}${lacks ? `<sup>${note(why)}</sup>` : ''}`;
    });
    return `| ${[name, ...api, ...others].join(' | ')} |\n`;
  });
  return `# Resources

What can be done with each kind of record, and by whom. \`npm run resources\` writes this page from the routes; what a cell lacks has its reason below.
An import creates, and with \`--update\` changes; no file reads, lists or ends. Paths are those of the resource (\`/v1/<resource>\`), unless they are written out.

| resource | create | read | change | end | list | portal | command line | import |
|---|---|---|---|---|---|---|---|---|
${rows.join('')}
${reasons.map((why, index) => `${index + 1}. ${why[0]!.toUpperCase()}${why.slice(1)}.\n`).join('')}`;
}

/** If this fails, run `npm run resources` and review the diff. */
it('every resource says what can be done with it, by whom, and why what is missing is missing', async () => {
  const named = new Set(operations.map((operation) => operation.split('/')[2]!));
  expect([...named].filter((name) => !RESOURCES[name] && !COMPUTED.includes(name))).toEqual([]);
  await expect(page()).toMatchFileSnapshot('../../docs/resources.md');
});
