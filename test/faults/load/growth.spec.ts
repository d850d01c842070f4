import { createOrganizationFixture, type OrganizationFixture } from '../../support/data/fixtures.js';
import { copyOf, growOrganization } from '../../support/data/growth.js';
import { TestApi } from '../../support/http/api.js';
import { call, documentOf, filtersOf, keyedReads, nameOf, sampleOf } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

/** Copies of the rows of an organization with some 300: it gets 3 million, and so do 50 others together. */
const COPIES = Number(process.env.GROWTH_COPIES ?? 10_000);

/** Times that each request is sent, in turns. */
const ROUNDS = 7;

const api = await fixture(TestApi.start());
const { make } = api;
const large = await createOrganizationFixture(api, make);
await growOrganization(make, large.id, COPIES);
const small = await copied(large);
const document = await documentOf(api);

/** The first of the others, with its own records. */
async function copied({ path, query, ...rest }: OrganizationFixture): Promise<OrganizationFixture> {
  const copies = async (values: Record<string, string>) => {
    const all = Object.entries(values).map(async ([name, value]) => [
      name,
      /^[0-9a-f-]{36}$/.test(value) ? await copyOf(make, value, COPIES + 1) : value,
    ]);
    return Object.fromEntries(await Promise.all(all)) as Record<string, string>;
  };
  const id = await copyOf(make, rest.id, 1);
  return { ...rest, id, path: await copies(path), query: await copies(query), key: await api.key(id) };
}

const quartile = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 4)]!;

it('answers the largest organization as fast as one that has a fiftieth of it', async () => {
  const rows: { at: string; large: number; small: number; ratio: number }[] = [];
  for (const route of keyedReads(api)) {
    const names = ['', ...[...filtersOf(document, route)].map(([name]) => name)];
    for (const name of names) {
      const of = (school: OrganizationFixture) => (name === '' ? '' : `?${name}=${sampleOf(name, filtersOf(document, route).get(name)!, school)}`);
      const times: [number[], number[]] = [[], []];
      let answered = true;
      for (let round = 0; round < ROUNDS; round++) {
        for (const [place, school] of [large, small].entries()) {
          const began = performance.now();
          const { status } = await call(api, route, school, { query: of(school) });
          times[place as 0 | 1].push(performance.now() - began);
          answered &&= status === 200;
        }
      }
      const [one, other] = times.map(quartile) as [number, number];
      if (answered) rows.push({ at: `${nameOf(route)}${name && `?${name}`}`, large: one, small: other, ratio: one / other });
    }
  }
  const beyond = rows.filter(({ ratio, large: time, small: other }) => ratio > 1.5 && time - other > 2).sort((a, b) => b.ratio - a.ratio);
  const words = beyond.map((row) => `${row.at}: ${row.large.toFixed(1)} ms, ${row.small.toFixed(1)} ms, ${row.ratio.toFixed(1)}x`);
  console.log(`${rows.length} GETs, ${beyond.length} beyond 1.5x (lower quartiles of ${ROUNDS})\n${words.join('\n')}`);
  expect(rows.length).toBeGreaterThan(200);
});
