import { TestApi } from '../../support/http/api.js';
import { Factories } from '../../support/data/factories.js';
import { type BulkInviteAnswer, newAddress, PeopleFixture, parentRow, type RowWish, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

/** Promise 7: one bad row never rolls back others. */
const BATCHES = Number(process.env.BATCHES ?? 1_000);
const MOST_ROWS = 100;
const BATCHES_OF_ONE_OFFICE = 50;
const SEED = seedOf();

/** A row and its expected result. */
interface Case {
  row: RowWish;
  expected: 'ok' | 'exists' | 'error';
  created: boolean | null;
}

/** People who exist before the batches: well-formed rows fail because of them. */
interface Known {
  tutor: string;
  student: string;
  parent: string;
  elsewhere: string;
}

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' }));
const make = await fixture(Factories.connect(api.database));

async function openOffice(elsewhere: PeopleFixture): Promise<{ provisioning: PeopleFixture; known: Known }> {
  const provisioning = await PeopleFixture.open(api, make);
  const { results } = await provisioning.invite(tutorRow(), studentRow(), parentRow());
  const [tutor, student, parent] = results.map(({ email }) => email!);
  const { email } = await make.member(elsewhere.id, { user: { firstName: 'Secret' } });
  return { provisioning, known: { tutor: tutor!, student: student!, parent: parent!, elsewhere: email } };
}

const ana = (email?: string) => ({ first_name: 'Ana', last_name: 'Silva', ...(email && { email }) });

const MALFORMED = ['', 'nobody', 'a@b', 'a b@example.org', 'x@placeholder.invalid', 'a@example.org\r\nBcc: b@example.org'];

/** A row that succeeds whatever precedes it. */
function goodRow(random: Random): Case {
  const row = random.pick([studentRow, tutorRow, parentRow])(random.chance(0.2) ? { email: null } : {});
  if (row.type === 'student' && random.chance(0.4)) row.parent = ana(random.chance(0.5) ? newAddress() : undefined);
  return { row, expected: 'ok', created: true };
}

/** A row that fails, by itself or because of the rows before it. */
function badRow(random: Random, known: Known, before: Case[]): Case {
  const taken = before.filter(({ row, expected }) => expected === 'ok' && typeof row.email === 'string');
  const rows: (() => RowWish)[] = [
    () => random.pick([studentRow, tutorRow, parentRow])({ email: random.pick(MALFORMED) }),
    () => studentRow({ parent: ana(random.pick(MALFORMED.slice(1))) }),
    () => studentRow({ email: known.tutor }),
    () => tutorRow({ email: known.student }),
    () => parentRow({ email: known.student.toUpperCase() }),
    () => studentRow({ parent: ana(known.student) }),
    () => studentRow({ email: known.parent }),
    () => {
      const email = newAddress();
      return studentRow({ email, parent: ana(` ${email.toUpperCase()}`) });
    },
  ];
  if (taken.length > 0) {
    const email = (random.pick(taken).row.email as string).toUpperCase();
    rows.push(() => random.pick([studentRow, tutorRow, parentRow])({ email }));
    rows.push(() => studentRow({ parent: ana(email) }));
  }
  return { row: random.pick(rows)(), expected: 'error', created: null };
}

/** Each known person at most once: repeating one would repeat an address. */
function knownRows(random: Random, known: Known): Case[] {
  const cases: Case[] = [
    { row: tutorRow({ email: known.tutor }), expected: 'exists', created: false },
    { row: studentRow({ email: known.student }), expected: 'exists', created: false },
    { row: parentRow({ email: known.parent }), expected: 'exists', created: false },
    { row: studentRow({ email: known.elsewhere }), expected: 'ok', created: false },
  ];
  return cases.filter(() => random.chance(0.3));
}

function batch(random: Random, known: Known): Case[] {
  const size = 1 + random.integer(MOST_ROWS);
  const bad = random.next();
  const cases: Case[] = [];
  // Known people come last, so that failing rows with their addresses come first.
  const last = knownRows(random, known).slice(0, size);
  while (cases.length < size - last.length) {
    cases.push(random.chance(bad) ? badRow(random, known, cases) : goodRow(random));
  }
  return [...cases, ...last];
}

/** Which of the ids belong to the organization, and which of the addresses have a login. */
async function stored(provisioning: PeopleFixture, ids: string[], addresses: string[]) {
  const people = await make.query<{ id: string }>(
    `SELECT user_id AS id FROM members WHERE organization_id = $1 AND user_id = ANY ($2)
     UNION SELECT user_id FROM parents WHERE organization_id = $1 AND user_id = ANY ($2)`,
    [provisioning.id, ids],
  );
  const logins = await make.query<{ email: string }>('SELECT email_normalized AS email FROM users WHERE email_normalized = ANY ($1)', [addresses]);
  return { people: new Set(people.map(({ id }) => id)), logins: new Set(logins.map(({ email }) => email)) };
}

it(`processes every valid row of ${BATCHES} batches with invalid rows`, async () => {
  const random = new Random(SEED);
  const elsewhere = await PeopleFixture.open(api, make);
  const landed = { batches: 0, rows: 0, bad: 0, mixed: 0 };
  let { provisioning, known } = await openOffice(elsewhere);
  for (let round = 0; round < BATCHES; round++) {
    if (round % BATCHES_OF_ONE_OFFICE === 0) ({ provisioning, known } = await openOffice(elsewhere));
    const cases = batch(random, known);
    const where = `batch ${round} of SEED=${SEED}`;
    const { status, body } = await provisioning.post('/v1/users/bulk-invite', { users: cases.map(({ row }) => row) });
    expect(status, where).toBe(200);
    const { results, summary } = body as BulkInviteAnswer;
    const told = results.map(({ index, type, status, created }) => ({ index, type, status, created }));
    expect(told, where).toEqual(cases.map(({ row, expected, created }, index) => ({ index, type: row.type, status: expected, created })));
    const counted = (wanted: string) => cases.filter(({ expected }) => expected === wanted).length;
    expect(summary, where).toEqual({
      total: cases.length,
      ok: counted('ok'),
      exists: counted('exists'),
      errors: counted('error'),
      created: cases.filter(({ created }) => created).length,
    });

    const good = results.filter(({ status }) => status !== 'error');
    // Addresses that occur only in failed rows must have no login.
    const theirs = new Set(cases.filter(({ expected }) => expected !== 'error').flatMap(({ row }) => addressesOf(row)));
    const knownAddresses = new Set(Object.values(known));
    const lost = cases.filter(({ expected }) => expected === 'error').flatMap(({ row }) => addressesOf(row));
    const absent = lost.filter((address) => !theirs.has(address) && !knownAddresses.has(address));
    const { people, logins } = await stored(
      provisioning,
      good.map(({ id }) => id!),
      absent,
    );
    expect(
      good.filter(({ id }) => !people.has(id!)),
      `lost in ${where}`,
    ).toEqual([]);
    expect(
      absent.filter((address) => logins.has(address)),
      `left behind by ${where}`,
    ).toEqual([]);

    landed.batches++;
    landed.rows += cases.length;
    landed.bad += counted('error');
    if (counted('error') > 0 && counted('ok') > 0) landed.mixed++;
  }
  reached(7, `${landed.batches} batches of ${landed.rows} rows, ${landed.bad} of them bad, ${landed.mixed} mixed: every good row kept`, SEED);
  const secrets = JSON.stringify([await provisioning.list('/v1/students'), await provisioning.list('/v1/tutors')]);
  expect(secrets).not.toContain('Secret');
  expect(landed.mixed).toBeGreaterThan(BATCHES / 2);
}, 600_000);

function addressesOf({ email, parent }: RowWish): string[] {
  const given = [email, (parent as { email?: string } | undefined)?.email];
  return given.filter((address) => typeof address === 'string').map((address) => address.trim().toLowerCase());
}
