import { fileURLToPath } from 'node:url';
import { addDays, dayOf } from '@app/scheduling';
import { createFixtures } from '../data/fixtures.js';
import { LargestLists } from '../data/largest-lists.js';
import { ApiProcess, buildOnce } from '../http/api-process.js';
import { exchange } from '../http/raw-http.js';
import { TestApi } from '../http/api.js';
import { keyedReads, nameOf, validPath } from '../http/routes.js';
import { fullOrganization } from '../portal/full-organization.js';
import { JoinFixture } from '../portal/join-fixture.js';
import { joinPages } from '../portal/join-states.js';
import { requestOf } from './load.js';
import type { Cost } from './metered.js';

/** How much there is to read: rows of each list, people on a row, characters of a text, rows of what the portal lists. */
export interface Much {
  rows: number;
  people: number;
  text: number;
  listed: number;
  tries: number;
}

/** For how long a GET held the event loop in one piece (ms), the shortest of some tries. */
export interface Hold {
  name: string;
  hold: number;
  status: number;
  bytes: number;
}

const METER = ['--expose-gc', '--import', fileURLToPath(new URL('meter.js', import.meta.url))];
/** Ids of nothing: a page that says so is a page as well. */
const NOTHING = '018cc251-0000-7000-8000-000000000000';
const SECRET = 'x'.repeat(43);

type Asked = Record<string, string>;

/** Every GET of the API at its dearest: the largest pages, the slots of the busiest tutor, documents, probes. */
export async function holdsOfApi({ rows, people, text, tries }: Much): Promise<Hold[]> {
  await buildOnce();
  const api = await TestApi.start();
  try {
    const { make } = api;
    const { a: school } = await createFixtures(api);
    const lists = await LargestLists.create(api, make, { rows, people, text: { length: text, character: '🎓' } });
    const asked: Asked = {};
    for (const path of ['/', '/docs', '/openapi.json', '/metrics', '/health/live', '/health/ready', '/nothing']) asked[path] = requestOf(path, null);
    const paged = new Map(lists.routes().map((route) => [nameOf(route), route]));
    for (const route of keyedReads(api)) {
      const list = paged.get(nameOf(route));
      asked[nameOf(route)] = requestOf(validPath(route, school), school.key);
      for (const query of list ? lists.pagesOf(list) : []) {
        const { path, key } = lists.target(list!, query);
        asked[`${nameOf(route)}?${query}`] = requestOf(path, key);
      }
    }
    asked['slots of 98 hours'] = requestOf(await busiestSlots(api), school.key);
    return await walk(await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl }, METER), asked, tries);

    /** The slots of a tutor with the most hours, in four zones, and holidays. @returns their path */
    async function busiestSlots({ make }: TestApi): Promise<string> {
      const { id: tutor } = await make.tutor(school.id);
      await make.query(
        `INSERT INTO availabilities (id, organization_id, tutor_id, day_of_week, start_time, end_time, timezone)
         SELECT gen_random_uuid(), $1, $2, n % 7, lpad((n / 7 + 6)::text, 2, '0') || ':00', lpad((n / 7 + 6)::text, 2, '0') || ':50',
           (ARRAY['Australia/Melbourne', 'Asia/Tokyo', 'Europe/Berlin', 'America/New_York'])[1 + n % 4] FROM generate_series(0, 97) n`,
        [school.id, tutor],
      );
      await make.query(
        `INSERT INTO time_off (id, organization_id, tutor_id, starts_on, ends_on)
         SELECT gen_random_uuid(), $1, $2, current_date + n, current_date + n FROM generate_series(100, 299) n`,
        [school.id, tutor],
      );
      const today = dayOf(new Date(), 'Australia/Melbourne');
      return `/v1/tutors/${tutor}/available-slots?from=${today}&to=${addDays(today, 62)}`;
    }
  } finally {
    await api.stop();
  }
}

/** Every GET of the portal in an organization with more of everything than a page shows, downloads among them. */
export async function holdsOfPortal({ listed, tries }: Much): Promise<Hold[]> {
  await buildOnce();
  const joining = await JoinFixture.open({ ENCRYPTION_KEY: '7'.repeat(64) });
  try {
    const full = await fullOrganization(joining);
    await joining.sql(
      `INSERT INTO audit_log (id, organization_id, user_id, operation, request_id, status, result, details, network)
       SELECT gen_random_uuid(), $1, $2, 'POST /v1/payments', gen_random_uuid(), 201, 'done', '{}', '127.0.0.1' FROM generate_series(1, $3) n`,
      ...[full.provisioning.id, full.ownerId, listed],
    );
    await joining.sql(
      `INSERT INTO invoices (id, organization_id, student_id, invoice_number, status, amount_due_cents, currency, due_date, sent_at)
       SELECT gen_random_uuid(), $1, $2, 'OLD-' || n, 'open', 8000, 'AUD', '2020-01-31', now() FROM generate_series(1, $3) n`,
      ...[full.provisioning.id, full.payers[0], listed],
    );
    const ids: Record<string, string> = { slug: full.slug, key_id: full.keyId, invite_id: full.codeId, user_id: full.ownerId, lesson_id: full.lessons[1]!, request_id: full.requestId, invoice_id: full.invoices.open, payment_id: full.paymentId, secret: SECRET }; // prettier-ignore
    const asked: Asked = {};
    const add = (name: string, path: string, cookie?: string) =>
      (asked[name] = requestOf(path, null, { headers: cookie === undefined ? [] : [['Cookie', cookie]] }));
    for (const { method, path, access } of joining.portal.routes()) {
      if (method !== 'GET') continue;
      const at = path.replaceAll(/:([^/]+)/g, (_, name: string) => ids[name] ?? NOTHING);
      add(path, at, access === 'public' ? undefined : full.owner.header);
    }
    for (const id of full.payers) add(`family ${id}`, `/o/${full.slug}/money/families/${id}`, full.owner.header);
    for (const [name, { path, cookie }] of Object.entries(await joinPages(joining, full.provisioning))) add(`join: ${name}`, path, cookie);
    const settings = {
      PORTAL_DATABASE_URL: joining.portal.database.portalUrl,
      ENCRYPTION_KEY: '7'.repeat(64),
      PORTAL_REQUESTS_PER_MINUTE: '1000000',
    };
    return await walk(await ApiProcess.start(settings, METER, 'portal'), asked, tries);
  } finally {
    await joining.stop();
  }
}

/** Sends each request several times, then stops the process. @returns the holds, longest first */
async function walk(target: ApiProcess, asked: Asked, tries: number): Promise<Hold[]> {
  try {
    const holds: Hold[] = [];
    // The first request of a process also compiles what all of them run.
    await exchange(target.port, requestOf('/health/live', null, { headers: [['Connection', 'close']] }));
    for (const [name, bytes] of Object.entries(asked)) {
      const one = { name, hold: Infinity, status: 0, bytes: 0 };
      for (let time = 0; time < tries; time++) {
        await target.ask('begin empty');
        const answer = await exchange(target.port, bytes.replace('\r\n', '\r\nConnection: close\r\n'));
        const { hold } = (await target.ask('end')) as Cost;
        if (answer.status === 0 || answer.status >= 500) throw new Error(`${name} answered ${answer.status}: ${answer.body.slice(0, 500)}`);
        Object.assign(one, { hold: Math.min(one.hold, hold), status: answer.status, bytes: answer.body.length });
      }
      holds.push(one);
    }
    return holds.sort((a, b) => b.hold - a.hold);
  } finally {
    await target.stop();
  }
}

/** One line: the longest holds. */
export const told = (holds: Hold[], most = 5): string =>
  `${holds.length} GETs held the event loop for at most ${holds.slice(0, most).map(({ name, hold }) => `${hold.toFixed(1)} ms (${name})`).join(', ')}`; // prettier-ignore
