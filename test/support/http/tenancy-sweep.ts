import type { Type } from '@nestjs/common';
import type { AddressInfo } from 'node:net';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { checksums } from '../database/checksums.js';
import { disableRowSecurity } from '../database/row-security.js';
import { someOf } from '../fuzz/hostile-client.js';
import { createFixtures, type Fixtures, type OrganizationFixture, parametersOf, pathOf } from '../data/fixtures.js';
import { TestApi } from './api.js';
import { encoded, isUpload, needed, type ValidWrite, validWrites } from './record-for.js';
import { type Answer, call, nameOf, pathWith, type Route, send, telling } from './routes.js';
import { idFieldsOf, type Path, valueAt, withValueAt } from './valid-bodies.js';

/** None is a UUID in canonical form. */
export const MALFORMED = ['abc', '1', 'null', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f3', '0190a6f25c1e7d3a9b4f2e8c6d1a7f30', '{0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30}']; // prettier-ignore

/** Escaped as in a URL. */
const MALFORMED_IN_PATHS = ['%00', '..%2f..', "'%20OR%20true--", ...MALFORMED.map(encodeURIComponent)];

/** The application with three organizations, and a database that keeps them apart or leaves that to the application. */
export class TenancySweep {
  private constructor(
    readonly api: TestApi,
    readonly fixtures: Fixtures,
    private readonly keys: Map<OrganizationFixture, string>,
    private readonly rowSecurity: boolean,
  ) {}

  static async open({ rowSecurity = true, controllers = [] as Type[] } = {}): Promise<TenancySweep> {
    const api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:9' }, undefined, controllers);
    const fixtures = await createFixtures(api);
    const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
    const keys = new Map<OrganizationFixture, string>();
    for (const one of [fixtures.a, fixtures.b, fixtures.c]) keys.set(one, await api.key(one.id, all));
    if (!rowSecurity) await disableRowSecurity(fixtures.make);
    return new TenancySweep(api, fixtures, keys, rowSecurity);
  }

  stop(): Promise<void> {
    return this.api.stop();
  }

  /**
   * Organizations with those that must stay hidden from them: one that shares people, and one that does not. The third is
   * made like the first. One of them tries what is no id, which does not depend on who asks. Row-level security can only
   * hide more, or fail: that is seen from one side.
   */
  views(): { own: OrganizationFixture; foreign: OrganizationFixture[]; malformed: string[] }[] {
    const { a, b, c } = this.fixtures;
    if (this.rowSecurity) return [{ own: a, foreign: [b, c], malformed: [] }];
    return [
      { own: a, foreign: [b, c], malformed: MALFORMED },
      { own: c, foreign: [b, a], malformed: [] },
    ];
  }

  get(path: string, own: OrganizationFixture): Promise<Answer> {
    return send(this.api, 'GET', path, { Authorization: `Token token=${own.key}` });
  }

  /** Reads that answer a foreign id in the path differently from a missing one. */
  async foreignReads(routes: Route[]): Promise<string[]> {
    const wrong: string[] = [];
    const cells = routes.flatMap((route) => parametersOf(route).map((name) => ({ route, name })));
    for (const { own, foreign, malformed } of this.views()) {
      for (const [number, { route, name }] of cells.entries()) {
        const twin = await call(this.api, route, own);
        if (twin.status !== 200) wrong.push(`${nameOf(route)} ${twin.status} for its owner`);
        const absent = telling(await this.get(pathWith(route, own, name, uuidv7()), own)) as Answer;
        if (absent.status !== 404) wrong.push(`${nameOf(route)} ${name} of nobody: ${absent.status}`);
        const wrongIds = malformed.length > 0 ? someOf(MALFORMED_IN_PATHS, number, cells.length, 2) : [];
        for (const id of [...foreign.map(({ path }) => path[name]!), uuidv4(), ...wrongIds]) {
          const answer = telling(await this.get(pathWith(route, own, name, id), own));
          if (JSON.stringify(answer) !== JSON.stringify(absent)) {
            wrong.push(`${nameOf(route)} ${name}=${id}: ${JSON.stringify(answer)}`);
          }
        }
      }
    }
    return wrong;
  }

  /** Sends the write with another path or body. */
  async write({ route, path, body }: ValidWrite, own: OrganizationFixture, more: Record<string, string> = {}) {
    const { port } = this.api.server.address() as AddressInfo;
    const { type, bytes } = await encoded({ route, path, body } as ValidWrite);
    const headers = { Authorization: `Token token=${this.keys.get(own)!}`, ...(bytes && { 'Content-Type': type }), ...needed(route), ...more };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: route.method, headers, body: bytes });
    const { status } = response;
    return { status, text: await response.text(), headers: Object.fromEntries(response.headers) };
  }

  /** Writes that answer a foreign id, in the path or anywhere in the body, differently from a missing one, or do anything. */
  async foreignWrites(routes: Route[]): Promise<{ cells: number; wrong: string[] }> {
    const wrong: string[] = [];
    let cells = 0;
    const samples = new Map<OrganizationFixture, ValidWrite[]>();
    for (const school of this.keys.keys()) {
      samples.set(school, await validWrites(routes.filter((route) => !isUpload(route)), this.fixtures.make, school));
    } // prettier-ignore
    const before = await checksums(this.fixtures.make);
    for (const { own, foreign, malformed } of this.views()) {
      const tried = new Set<string>();
      let number = 0;
      const some = () => someOf(malformed, number++, Infinity, 2);
      for (const [index, write] of samples.get(own)!.entries()) {
        const { route, body } = write;
        const theirs = foreign.map((school) => samples.get(school)![index]!);
        const places = parametersOf(route).map((name) => {
          const path = (id: string) => pathOf(route, { ...own, path: { ...write.ids, [name]: encodeURIComponent(id) } });
          const sent = (id: string) => this.write({ ...write, path: path(id) }, own);
          return { name, sent, ids: [...theirs.map(({ ids }) => ids[name]!), uuidv4(), ...some()], at: null as Path | null };
        });
        const strict = idFieldsOf(route, ['uuid']).map(String);
        for (const at of idFieldsOf(route).filter((one) => valueAt(body, one) !== undefined)) {
          const sent = (id: string) => this.write({ ...write, body: withValueAt(body, at, id) as object as ValidWrite['body'] }, own);
          const ids = [...theirs.map((other) => String(valueAt(other.body, at))), uuidv4()];
          // A text that can be a code is no fault.
          const isStrict = strict.includes(String(at));
          places.push({ name: `body.${at.join('.')}`, sent, ids: isStrict ? ids : [...ids, ...some()], at: isStrict ? at : null });
        } // prettier-ignore
        for (const { name, sent, ids, at } of places) {
          const what = `${nameOf(route)} ${name}`;
          // Another body of the route has it, too.
          if (tried.has(what)) continue;
          tried.add(what);
          const absent = await sent(uuidv7());
          if (absent.status !== 404) wrong.push(`${what} of nobody: ${absent.status} ${absent.text}`);
          for (const id of ids) {
            const { status, text } = await sent(id);
            cells++;
            if (status !== absent.status || text !== absent.text) wrong.push(`${what}=${id}: ${status} ${text}`);
          }
          for (const id of at ? some() : []) {
            const { status, text } = await sent(id);
            cells++;
            const [fault] = (JSON.parse(text) as { detail?: { loc: unknown; type: string }[] }).detail ?? [];
            const loc = ['body', ...at!.map((part) => (part === '0' ? 0 : part))];
            const right = status === 422 && JSON.stringify(fault?.loc) === JSON.stringify(loc);
            if (!right || fault?.type !== 'uuid_parsing') wrong.push(`${what}=${id}: ${status} ${text}`);
          }
        }
      }
    }
    const after = await checksums(this.fixtures.make);
    const changed = Object.keys(before).filter((table) => before[table] !== after[table]);
    return { cells, wrong: [...wrong, ...changed.map((table) => `${table} has changed`)] };
  }
}
