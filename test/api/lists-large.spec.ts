import { Database } from '@app/database';
import { homeworkView } from '../../apps/api/src/resources/homework/homework.view.js';
import { PART_BYTES } from '../../apps/api/src/http/lists/statements.js';
import { TestApi } from '../support/api.js';
import { createStage, LIST_ROWS, rowsAt, type Stage } from '../support/list-rows.js';
import { lengthenTexts } from '../support/longest-rows.js';
import { Random } from '../support/random.js';
import {
  type ApiDocument,
  documentOf,
  keyedReads,
  nameOf,
  operationAt,
  queryOf,
  type Route,
} from '../support/routes.js';
import { createWorld, type World } from '../support/world.js';

/** Rows in each list, and people who hang on each of some rows. */
const ROWS = 60;
const PEOPLE = 1_500;

/** What PostgreSQL may hand over at once: a part, whose texts JSON doubles, and the fixed fields of its rows. */
const MOST_AT_ONCE = 2 * PART_BYTES + 100_000;

let api: TestApi;
let world: World;
let document: ApiDocument;
const stages = new Map<string, { stage: Stage; key: string }>();

beforeAll(async () => {
  api = await TestApi.start();
  world = await createWorld(api);
  document = await documentOf(api);
  const { make } = world;
  const random = new Random(3);
  const times = Array<string>(ROWS).fill('2026-05-01T00:00:00Z');
  for (const route of lists()) {
    const id = operation(route);
    const stage = await createStage(make, new Date('2026-05-01T00:00:00Z'));
    stages.set(id, { stage, key: await api.key(stage.school) });
    if (id === 'list_blog_posts') for (let n = 0; n < ROWS; n++) await make.post(stage.school, { content: 'x' });
    else if (id === 'list_conversations') {
      for (let n = 0; n < ROWS; n++) await make.conversation({ participants: [stage.tutor] });
    } else await LIST_ROWS[id]!.insert(make, stage, rowsAt(times, random));
  }
  await crowd();
  // Each of them can be long, or the test looks at nothing.
  expect(await lengthenTexts(make)).toEqual(expect.arrayContaining(LONG_COLUMNS));
}, 120_000);

afterAll(async () => {
  await world.close();
  await api.stop();
});

const LONG_COLUMNS = ['adjustments.note', 'blog_posts.content', 'conversations.title', 'homework.description', 'homework.files',
  'session_feedback.comment', 'session_feedback.positive_tags', 'tutor_profiles.bio']; // prettier-ignore

const lists = (): Route[] => keyedReads(api).filter((route) => queryOf(document, route).has('limit'));
const operation = (route: Route): string => operationAt(document, route).operationId;

/** Arrays that the database makes: children, parents and participants without end. */
async function crowd(): Promise<void> {
  const { make } = world;
  await make.query(
    `INSERT INTO users (id, email, email_normalized, first_name, last_name)
     SELECT id, id || '@example.org', id || '@example.org', 'Ada', 'Lovelace'
     FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $1)) AS made`,
    [PEOPLE],
  );
  const some = `(SELECT id FROM users ORDER BY created_at DESC LIMIT ${PEOPLE}) u`;
  const silently = (statement: string) =>
    make.query(`DO $$ BEGIN SET LOCAL session_replication_role = replica; ${statement}; END $$`);
  const children = stages.get('list_parents')!.stage.school;
  await silently(`INSERT INTO parent_students (organization_id, parent_id, student_id)
    SELECT organization_id, user_id, u.id FROM (SELECT * FROM parents WHERE organization_id = '${children}' LIMIT 20) p, ${some}`);
  const parents = stages.get('list_students')!.stage.school;
  await silently(`INSERT INTO parent_students (organization_id, parent_id, student_id)
    SELECT organization_id, u.id, user_id FROM (SELECT * FROM members WHERE organization_id = '${parents}' LIMIT 20) m, ${some}
    WHERE u.id <> m.user_id ON CONFLICT DO NOTHING`);
  const threads = stages.get('list_conversations')!.stage.school;
  await silently(`INSERT INTO conversation_participants (id, conversation_id, user_id, role)
    SELECT gen_random_uuid(), conversation_id, u.id, 'student'
    FROM (SELECT * FROM organization_conversations WHERE organization_id = '${threads}' LIMIT 20) c, ${some}
    ON CONFLICT DO NOTHING`);
}

interface Read {
  text: string;
  chunked: boolean;
  /** The longest text that PostgreSQL handed over for it. */
  atOnce: number;
}

async function read(route: Route, query: string): Promise<Read> {
  const { stage, key } = stages.get(operation(route))!;
  const rows = vi.spyOn(Database.prototype, 'read');
  try {
    const answer = await api.get(`${route.path.replace(':tutor_id', stage.tutor)}?${query}`, key);
    if (answer.status !== 200) throw new Error(`${nameOf(route)}?${query} ${answer.status} ${answer.text}`);
    const results = await Promise.all(rows.mock.results.map(({ value }) => value as Promise<{ data?: string }[][]>));
    const lengths = results.flat(2).map(({ data }) => Buffer.byteLength(data ?? ''));
    const chunked = answer.headers['transfer-encoding'] === 'chunked';
    return { text: answer.text, chunked, atOnce: Math.max(...lengths) };
  } finally {
    rows.mockRestore();
  }
}

const recordsIn = (text: string): unknown[] => {
  const answer = JSON.parse(text) as unknown[] | { data: unknown[] };
  return Array.isArray(answer) ? answer : answer.data;
};

describe('the largest page of every list', () => {
  it('is never held whole, in either mode, and is the same as record by record', { timeout: 120_000 }, async () => {
    const streamed: string[] = [];
    for (const route of lists()) {
      const modes = queryOf(document, route).has('cursor') ? ['', '&cursor=start'] : [''];
      const single: unknown[] = [];
      for (let offset = 0; offset < 12; offset++) {
        single.push(...recordsIn((await read(route, `limit=1&offset=${offset}`)).text));
      }
      for (const mode of modes) {
        const { text, chunked, atOnce } = await read(route, `limit=100${mode}`);
        expect([nameOf(route), mode, atOnce > MOST_AT_ONCE]).toEqual([nameOf(route), mode, false]);
        expect(recordsIn(text).length).toBeGreaterThanOrEqual(ROWS);
        expect(recordsIn(text).slice(0, 12)).toEqual(single);
        if (chunked) streamed.push(operation(route));
      }
    }
    // Results have no texts; the others are too large to be held.
    const large = lists()
      .map(operation)
      .filter((id) => id !== 'list_results');
    expect([...new Set(streamed)].sort()).toEqual(large.sort());
  });

  it('would be, if its texts were not weighed: the test can fail', async () => {
    const homework = lists().find((route) => operation(route) === 'list_homework')!;
    const { size } = homeworkView;
    Object.assign(homeworkView, { size: null });
    try {
      expect((await read(homework, 'limit=100')).atOnce).toBeGreaterThan(MOST_AT_ONCE);
    } finally {
      Object.assign(homeworkView, { size });
    }
  });
});
