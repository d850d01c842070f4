import type { TestApi } from './api.js';
import { encoded, validWrites, writesOf } from './record-for.js';
import type { Fixtures } from '../data/fixtures.js';

/** A write request. */
export interface Write {
  name: string;
  method: string;
  path: string;
  type: string;
  body: Uint8Array<ArrayBuffer> | undefined;
  /** The write succeeded before, so the request gets a replay. */
  replay: boolean;
}

/** Every write in the route table, some with several bodies. Each appears a second time as a replay. */
export async function allWrites(api: TestApi, { make, a: school }: Fixtures): Promise<Write[]> {
  const writes: Write[] = [];
  for (const write of await validWrites(writesOf(api), make, school)) {
    const { operation, path, route } = write;
    const variant = writes.filter(({ name, replay }) => !replay && name.split(' (')[0] === operation).length;
    const name = variant === 0 ? operation : `${operation} (body ${variant + 1})`;
    const { type, bytes: body } = await encoded(write);
    const once = { name, method: route.method, path, type, body, replay: false };
    writes.push(once, { ...once, name: `${name}, replayed`, replay: true });
  }
  return writes;
}
