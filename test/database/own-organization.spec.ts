import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What is there for all organizations: the schema itself, what the owner's commands do, and the invariants. */
const FOR_ALL = /^libs\/database\/src\/(schema|grants|migrations|invariants)\/|^apps\/cli\/|^libs\/access\/src\/membership\/leaving\.ts$/;

const schema = await fixture(SchemaFixture.create());

/** Tables whose rows belong to an organization. */
const tables = new Set(
  (await schema.all(`SELECT relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`)).map(({ name }) => String(name)),
); // prettier-ignore

/** Each file's text without comments. */
const sources = new Map(
  ['apps', 'libs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.endsWith('.ts') && !FOR_ALL.test(path))
      .map((path) => [path, readFileSync(join(ROOT, path), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')] as const),
  ),
);

/** A text in backticks with those inside its `${…}`, and the rest of the source. */
function templateAt(text: string, from: number): [template: string, end: number] {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '`') return [text.slice(from + 1, at), at];
    else if (text.startsWith('${', at)) {
      for (let depth = (at++, 1); depth > 0;) {
        at++;
        if (text[at] === '{') depth++;
        else if (text[at] === '}') depth--;
        else if (text[at] === '`') [, at] = templateAt(text, at);
      }
    }
  }
  return ['', text.length];
}

function templatesOf(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('`'); at >= 0;) {
    const [template, end] = templateAt(text, at);
    found.push(template, ...templatesOf(template));
    at = text.indexOf('`', end + 1);
  }
  return found;
}

/** Names of conditions that are defined with the organization, anywhere. */
const OWN = new Set(
  [...sources.values()].flatMap((text) =>
    [...text.matchAll(/(?:const|function|readonly|static|private|async)? ?\b(\w+)(?:: \w+)?(?: = |\([^)]*\)(?:: \w+)? (?:\{\s+return |=> ))(?:\([^)]*\)(?:: \w+)? =>\s*)?sql`([^`]*)`/g)]
      .filter(([, , condition]) => /organization_id|organizationId/.test(condition!))
      .map(([, name]) => name!),
  ),
); // prettier-ignore

/** The parts of a statement between its brackets, and of a UNION: each looks something up by itself. */
function lookupsOf(statement: string): string[] {
  const parts: string[] = [];
  const open: string[] = [''];
  for (const piece of statement.split(/([()]|\bUNION(?: ALL)?\b)/)) {
    if (piece === '(') open.push('');
    else if (piece === ')' && open.length > 1) parts.push(open.pop()!);
    else if (piece.startsWith('UNION')) parts.push(open.splice(-1, 1, '')[0]!);
    else open.push(`${open.pop()!}${piece}`);
  }
  return [...parts, ...open];
}

const LOOKUP =
  /\b(?:FROM|JOIN|UPDATE|USING)\s+(\w+)(?:\s+(?:AS\s+)?(?!(?:WHERE|SET|ON|JOIN|LEFT|ORDER|LIMIT|FOR|USING|GROUP|UNION|CROSS|INNER|RETURNING|AND)\b)([a-z]\w*))?/g;

/** The tables of organizations that the statement looks up without naming the organization beside each. */
function omissionsOf(statement: string): string[] {
  const text = statement.replaceAll(/USING \(organization_id[^)]*\)/g, 'ON organization_id = organization_id');
  const ctes = [...text.matchAll(/\b(\w+)(?: \([^)]*\))? AS (?:NOT )?(?:MATERIALIZED )?\(/g)].map(([, name]) => name);
  return lookupsOf(text).flatMap((lookup) => {
    const conditions = [...lookup.matchAll(/\b(?:WHERE|AND|ON|OR)\s+\$\{(?:\w+\.)*(\w+)/g)];
    if (conditions.some(([, name]) => OWN.has(name!))) return [];
    const looked = [...lookup.matchAll(LOOKUP)].filter(([, table]) => tables.has(table!) && !ctes.includes(table));
    const alone = looked.length === 1 || lookup.includes('ON organization_id = organization_id') ? '|(?<![.\\w])' : '';
    return looked.flatMap(([, table, alias]) => {
      checked++;
      return new RegExp(`(?:\\b${alias ?? table}\\.${alone})organization_id\\b`).test(lookup) ? [] : [table!];
    });
  });
}

let checked = 0;

const PLATFORM = 'posts of the platform are among them: the conditions before it say whose';

/** Look-ups whose organization is named where the condition is made, and why it is. */
const ELSEWHERE: Record<string, string> = {
  'apps/api/src/areas/blog/blog-posts/blog-posts.queries.ts blog_posts': PLATFORM,
  'apps/api/src/areas/people/users/users.queries.ts members': 'a view of both, whose organization the list adds',
  'apps/api/src/areas/people/users/users.queries.ts parents': 'a view of both, whose organization the list adds',
  'apps/portal/src/activity/activity.service.ts request_log': 'its caller makes the condition for one key or an organization',
  'apps/portal/src/lessons/lessons.queries.ts sessions': 'one of two conditions, both with the organization',
  'libs/webhooks/src/webhook-log.ts outbox': 'a condition that they share, `ITS`, names it',
  'libs/publishing/src/build-hooks.ts outbox': 'one of two conditions: of the organization, or of the platform',
  'libs/publishing/src/build-hooks.ts rebuild_hooks': 'its key, `target`, names the organization or the brand',
};

const complaints = (path: string, text: string) =>
  templatesOf(text).flatMap((statement) => omissionsOf(statement).map((table) => ({ name: `${path} ${table}`, statement: statement.trim() })));

it('every look-up of every statement names the organization beside each table: people are shared by organizations', () => {
  const found = [...sources].flatMap(([path, text]) => complaints(path, text));
  expect(found.filter(({ name }) => !(name in ELSEWHERE))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((excused) => !found.some(({ name }) => name === excused))).toEqual([]);
  expect(checked).toBeGreaterThan(400);
});

it.each([
  ['a second look-up', 'SELECT FROM sessions s WHERE s.organization_id = $1 AND EXISTS (SELECT FROM tutor_students WHERE tutor_id = s.tutor_id)', 'tutor_students'],
  ['a join', 'SELECT FROM sessions s JOIN members m ON m.user_id = s.student_id WHERE s.organization_id = $1', 'members'],
  ['half of a union', 'SELECT FROM members WHERE organization_id = $1 UNION ALL SELECT FROM parents WHERE user_id = $2', 'parents'],
  ['a change', 'WITH gone AS (UPDATE sessions SET status = $1 WHERE tutor_id = $2 RETURNING id) SELECT id FROM gone', 'sessions'],
])('%s without it is named', (_, statement, table) => {
  expect(complaints('planted.ts', `sql\`${statement}\``).map(({ name }) => name)).toEqual([`planted.ts ${table}`]);
}); // prettier-ignore
