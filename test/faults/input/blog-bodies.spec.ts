import { TestApi } from '../../support/http/api.js';
import { Blog } from '../../support/data/blog.js';
import { Random } from '../../support/data/random.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { fixture } from '../../support/process/fixture.js';

const BODIES = Number(process.env.BODIES ?? 5_000);

const seed = seedOf();

let blog: Blog;

const api = await fixture(TestApi.start());

beforeAll(async () => {
  blog = await Blog.open(api);
  console.log(`seed ${seed}`);
});

/** Code points that databases and parsers treat differently. */
const POINTS = ['a', 'Z', '0', ' ', '\t', '\n', '"', '\\', '/', '<', '&', '\u007f', '\u0080', 'é', 'ß', '\u200b', '\u200d', '\ufe0f',
  '\u202e', '\u2028', '\ufeff', '\ufffd', '\uffff', '图', '🎓', '👩', '\u{10ffff}', 'e\u0301'.slice(1)]; // prettier-ignore

function text(random: Random, min: number, max: number): string {
  const length = random.pick([min, min, Math.min(min + 1, max), max - 1, max, min + random.integer(max - min + 1)]);
  if (length > 5_000) return random.pick(['a', '🎓', 'é', '\n']).repeat(length);
  const points = Array.from({ length: Math.max(min, length) }, () => random.pick(POINTS));
  // Required text is not blank.
  if (min > 0) points[random.integer(points.length)] = random.pick(['a', 'ß', '图', '🎓']);
  return points.join('');
}

let count = 0;

/** Ends in a counter, which makes it unique. */
function slug(random: Random): string {
  const end = `-${(count++).toString(36)}`;
  return `${'a'.repeat(1 + random.pick([0, 10, 199 - end.length]))}${end}`;
}

/** A valid value for every writable field. */
function fields(random: Random): Record<string, (random: Random) => unknown> {
  const orNull = (value: unknown) => (random.chance(0.15) ? null : value);
  const day = `20${10 + random.integer(90)}-0${1 + random.integer(9)}-${10 + random.integer(19)}`;
  return {
    title: () => text(random, 1, 300),
    slug: () => slug(random),
    excerpt: () => orNull(text(random, 0, 2000)),
    content: () => orNull(text(random, 0, random.chance(0.06) ? 200_000 : 3_000)),
    tags: () => Array.from({ length: random.pick([0, 1, 2, 49, 50]) }, () => text(random, 1, 100)),
    featured_image: () => orNull(`https://example.org/${'a'.repeat(random.pick([0, 1, 1979, 1980]))}`),
    author: () => orNull(text(random, 0, 200)),
    category: () => orNull(text(random, 0, 200)),
    date: () => orNull(day),
    publish_to_website: () => random.chance(0.5),
    publish_to_portal: () => random.chance(0.5),
  };
}

/** The same JSON in one of the ways clients write it. */
function written(random: Random, body: object): string {
  const json = JSON.stringify(body);
  const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return random.pick([
    () => json,
    () => json.replaceAll(/[\u007f-\uffff]/g, unit),
    () => JSON.stringify(body, null, random.integer(9)),
    () => json.replaceAll('/', '\\/'),
  ])();
}

it(`${BODIES} valid bodies: each is accepted and reads back as sent`, async () => {
  const random = new Random(seed);
  const post = await blog.make.post(blog.school);
  const lengths: Record<string, number> = {};
  const wrong: string[] = [];
  for (let index = 0; index < BODIES; index++) {
    const creates = random.chance(0.3);
    const all = fields(random);
    const chosen = Object.keys(all).filter((name) => random.chance(0.4) || (creates && ['title', 'slug'].includes(name)));
    const body = Object.fromEntries(chosen.map((name) => [name, all[name]!(random)]));
    const sent = written(random, body);
    const answer = creates ? await blog.create(sent) : await blog.change(post.id, sent);
    const { id } = answer.body as { id: string };
    const read = (await blog.get(creates ? id : post.id)).body as Record<string, unknown>;
    if (answer.status !== (creates ? 201 : 200)) wrong.push(`${index}: ${answer.status} ${answer.text.slice(0, 300)}`);
    for (const [name, value] of Object.entries(body)) {
      if (JSON.stringify(read[name]) !== JSON.stringify(value)) wrong.push(`${index}: ${name} reads back differently`);
      if (name === 'content' && typeof value === 'string' && value.length >= 200_000) lengths.long = (lengths.long ?? 0) + 1; // prettier-ignore
    }
    if (creates) await blog.remove(id);
  }
  reached(25, `${BODIES} bodies, ${lengths.long ?? 0} of 200,000 characters: ${wrong.length} wrong`, seed);
  expect(wrong).toEqual([]);
  expect(lengths.long).toBeGreaterThan(10);
}, 900_000);
