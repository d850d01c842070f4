import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scope, SCOPES } from '@app/access';
import { EVENT_TYPES, TELLING, UNTOLD } from '@app/database';
import { createFixtures } from '../../support/data/fixtures.js';
import { faultsOf, shownTo, told, type Told } from '../../support/events/shown.js';
import { TestApi } from '../../support/http/api.js';
import { encoded, everyWrite, needed, validWrites } from '../../support/http/record-for.js';
import { fixture } from '../../support/process/fixture.js';

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-events-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const api = await fixture(TestApi.start({ DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:1' }));
const fixtures = await createFixtures(api);
const { make, a: school, b: neighbour } = fixtures;
const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });
const { port } = api.server.address() as AddressInfo;
const TYPES = new Set(EVENT_TYPES.map(({ type }) => type));

it('is declared for each table, or has a reason not to be', async () => {
  const tables = await make.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  expect([...TELLING, ...Object.values(UNTOLD).flat()].sort()).toEqual(tables.map(({ name }) => name));
});

it('tells whoever is shown a difference, and nobody else, of every write', async () => {
  const wrong: string[] = [];
  const writes = await validWrites(everyWrite(api), make, school);
  let states = await Promise.all([shownTo(api, school.id), shownTo(api, neighbour.id)]);
  for (const write of writes) {
    const { type, bytes } = await encoded(write);
    let status = 0;
    const change = async () => {
      const headers = { Authorization: `Token token=${key}`, ...(bytes && { 'Content-Type': type }), ...needed(write.route) };
      ({ status } = await fetch(`http://127.0.0.1:${port}${write.path}`, { method: write.route.method, headers, body: bytes }));
    };
    let others: Told[] = [];
    const own = await told(make, school.id, async () => (others = await told(make, neighbour.id, change)));
    const after = await Promise.all([shownTo(api, school.id), shownTo(api, neighbour.id)]);
    const before = states;
    states = after;
    if (status >= 300) wrong.push(`${write.operation}: ${status}`);
    wrong.push(...own.filter((event) => !TYPES.has(event.type)).map((event) => `${write.operation}: ${event.type} is not declared`));
    wrong.push(...faultsOf(before[0], after[0], own).map((fault) => `${write.operation}: ${fault}`));
    wrong.push(...faultsOf(before[1], after[1], others).map((fault) => `${write.operation}, the neighbour: ${fault}`));
  }
  expect(wrong).toEqual([]);
});
